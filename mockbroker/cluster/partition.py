"""A partition: its replicas, who leads, which are in sync, and how far all of them have come."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..log.log import Log
from ..metadata.image import PartitionRegistration
from ..metadata.records import NO_LEADER, PartitionChangeRecord
from ..policies.epochs.epoch_below_first import epoch_below_first
from ..policies.epochs.epoch_lookup import epoch_lookup
from ..policies.epochs.epoch_not_given import epoch_not_given
from ..policies.epochs.leader_epoch_entry import leader_epoch_entry
from ..policies.epochs.undefined_epoch import undefined_epoch
from ..policies.followers.high_watermark_below_min_isr import high_watermark_below_min_isr
from ..protocol.errors import ErrorCode
from ..protocol.record_batch import Batch
from . import fetcher, in_sync
from .awaited import Awaited
from .follower import HELD, NEVER_MS, Follower, FollowerState
from .waiters import Waiters

if TYPE_CHECKING:
    from ..policies import Policies
    from .topic import Topic

_LOOK = 0
"""What those who wait are told in place of a size when they have to look for themselves."""
REPLICA_FETCH_WAIT_MS = 500
"""Kafka's default for `replica.fetch.wait.max.ms`."""


class Partition:
    """One partition of a topic. `log` is the leader's, `logs` has that of each broker in `replicas`.

    While every follower is in step, an append reaches all logs at once, by reference. One that is paused, or
    replaced by a client, falls behind, leaves the ISR after `replica.lag.time.max.ms`, and holds the high
    watermark back until then.
    """

    __slots__ = (
        "_epoch_due",
        "_isr_check",
        "_rested_ms",
        "_told_ms",
        "adding_replicas",
        "appended_ms",
        "deleted",
        "deleting",
        "eligible_leader_replicas",
        "environment",
        "epoch_start_offset",
        "followers",
        "index",
        "isr",
        "last_known_elr",
        "leader",
        "leader_epoch",
        "log",
        "logs",
        "removing_replicas",
        "replicas",
        "topic",
        "unacknowledged",
        "views",
        "waiting",
        "waiting_followers",
    )

    def __init__(
        self,
        topic: "Topic",
        index: int,
        registered: PartitionRegistration,
        logs: dict[int, Log] | None = None,
    ) -> None:
        self.topic = topic
        self.environment = topic.environment
        self.index = index
        self._register(registered)
        self.logs = {b: topic.new_log(b) for b in registered.replicas} if logs is None else logs
        self.log: Log
        if self.leader in self.logs:
            self.log = self.logs[self.leader]
        else:
            self.log = next(iter(self.logs.values()), None) or topic.new_log(self.leader)
        self.epoch_start_offset = 0
        self.followers: dict[int, Follower] = {}
        self.views: dict[int, Partition] = {}
        """The partition as brokers know it that are cut off from the controller."""
        self.appended_ms: int | None = None
        """The time of the last append, None when the next one has to be told of whatever its time."""
        self.waiting: Waiters[Callable[[int], None]] = Waiters()
        """Called with the bytes that became readable below the high watermark; 0 when something else
        about the partition changed."""
        self.waiting_followers: Waiters[Callable[[int], None]] = Waiters()
        """Called with the bytes that were appended."""
        self.unacknowledged = Awaited()
        """What to call once the high watermark has reached an offset, and for whom."""
        self.deleting: Waiters[Callable[[], None]] = Waiters()
        """Called when a follower has told of its log start offset, or the leader changed."""
        self.deleted = False
        """Whether its topic was deleted."""
        self._epoch_due = False
        self._isr_check = False
        self._rested_ms: int | None = None
        self._told_ms = 0
        self._begin()

    def _begin(self) -> None:
        """There is nothing to fetch in a new partition, but a broker may not have heard of it."""
        self._enter_epoch()
        brokers = self.topic.cluster.brokers
        for broker in self.replicas:
            if broker == self.leader:
                continue
            caught_up_ms = self.environment.now_ms if broker in self.isr else NEVER_MS
            follower = self.followers[broker] = Follower(broker, self.logs[broker], caught_up_ms)
            state = FollowerState.IN_STEP if self.led else FollowerState.BEHIND
            heard = brokers[broker].hears_controller
            follower.state = self._possible(broker, state if heard else FollowerState.CUT_OFF)
            if follower.state is not FollowerState.IN_STEP:
                self._plan_isr_check()

    # -- what may be asked

    @property
    def policies(self) -> "Policies":
        """The answers in force for this topic on the leader."""
        return self.environment.policies.at(self.topic.name, self.leader)

    @property
    def led(self) -> bool:
        """Whether a leader is there that runs: one that died leads until its session is over."""
        leader = self.topic.cluster.brokers.get(self.leader)
        return leader is not None and leader.online

    def seen_by(self, broker: int) -> "Partition":
        """The partition as `broker` knows it."""
        return self.views.get(broker, self) if self.views else self

    def check_leader(
        self, broker: int, current_leader_epoch: int = -1, any_replica: bool = False
    ) -> ErrorCode:
        """Why `broker` may not serve the partition to a client at `current_leader_epoch`; NONE if it may.

        The epoch comes first (KIP-320): FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER.
        """
        if broker not in self.logs:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if current_leader_epoch != -1 and current_leader_epoch != self.leader_epoch:
            if current_leader_epoch < self.leader_epoch:
                return ErrorCode.FENCED_LEADER_EPOCH
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if broker != self.leader and not any_replica:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    def end_offset_for_epoch(self, requested: int, log: Log | None = None) -> tuple[int, int]:
        """(leader epoch, end offset) for OffsetForLeaderEpoch (`LeaderEpochFileCache.endOffsetFor`)."""
        log, policies = log or self.log, self.policies
        cache = log.epochs
        if requested == -1:
            return policies[epoch_not_given](cache.latest, log.end_offset)
        if not cache.epochs or requested > cache.epochs[-1]:
            return policies[undefined_epoch](cache.latest, log.end_offset)
        if requested == cache.epochs[-1]:
            return requested, log.end_offset
        epoch, index = cache.floor(requested)
        if policies[epoch_lookup] == "exact" and epoch != requested:
            return -1, -1
        if index < 0:
            return policies[epoch_below_first](requested, cache.starts[0], log.end_offset)
        return epoch, cache.starts[index + 1]

    # -- appends and acknowledgements

    def append(
        self,
        batch: Batch,
        base_offset: int,
        count: int,
        timestamp: int,
        remember: Callable[[Log], None] | None = None,
    ) -> None:
        """Appends a batch with this max timestamp to the leader's log, and to those of followers in step.

        `remember` notes its producer in each: first, since whoever the append wakes must see a transaction as
        it is then.
        """
        log, now_ms = self.log, self.environment.now_ms
        if remember is not None:
            remember(log)
            for follower in self.followers.values():
                if follower.state is FollowerState.IN_STEP:
                    remember(follower.log)
        if now_ms != self.appended_ms:
            self.topic.cluster.cleanup.appending(self)
        if self._epoch_due:
            self._epoch_due = False
            log.epochs.assign(self.leader_epoch, base_offset, keep_empty=True)
        log.append(batch, base_offset, count, timestamp, now_ms)
        told = False
        if not self.followers:
            log.high_watermark = log.end_offset
        else:
            told = self._replicate(batch, base_offset, count, timestamp)
        if self.waiting and not told and log.high_watermark == log.end_offset:
            size = _LOOK if log.segments.begins_at(base_offset) else len(batch)
            for notify in list(self.waiting):
                notify(size)

    def _replicate(self, batch: Batch, base_offset: int, count: int, timestamp: int) -> bool:
        """Whether those who wait for what can be read have been told."""
        log, now_ms = self.log, self.environment.now_ms
        self._told_ms = now_ms + REPLICA_FETCH_WAIT_MS
        all_in_step = True
        for follower in self.followers.values():
            if follower.state is FollowerState.IN_STEP:
                own = follower.log
                own.high_watermark = log.high_watermark
                own.append(batch, base_offset, count, timestamp, now_ms)
                own.epochs.assign(self.leader_epoch, base_offset)
                follower.end_offset = log.end_offset
                follower.caught_up_ms = now_ms
            else:
                all_in_step = False
        if all_in_step and len(self.isr) == len(self.replicas):
            log.high_watermark = log.end_offset
            return False
        size = _LOOK if log.segments.begins_at(base_offset) else len(batch)
        for notify in list(self.waiting_followers):
            notify(size)
        self._plan_isr_check()
        return self.advance_high_watermark()

    def tell_followers(self) -> None:
        """Followers in step hear of the high watermark with their next fetch, at the latest when the one
        that waits is answered empty. A leader that died tells them nothing."""
        if self.followers and self.environment.now_ms >= self._told_ms and self.led:
            for follower in self.followers.values():
                if follower.state is FollowerState.IN_STEP:
                    follower.log.high_watermark = self.log.high_watermark

    def when_replicated(self, offset: int, callback: Callable[[], None]) -> None:
        """Calls back once the high watermark has reached `offset`, or the leader changed."""
        self.unacknowledged.add(offset, callback, self.environment.at_work)

    def forget(self, callback: Callable[[], None]) -> None:
        self.unacknowledged.discard(callback)

    def advance_high_watermark(self) -> bool:
        """To the least end offset of the ISR, and of those that are about to join it; never back. Whether it
        moved, of which all that wait are told."""
        log = self.log
        if (
            len(self.isr) < self.min_insync_replicas
            and self.policies[high_watermark_below_min_isr] == "stays"
        ):
            return False
        reached = log.end_offset
        for f in self.followers.values():
            if f.end_offset < reached and (f.broker in self.isr or in_sync.is_joining(self, f)):
                reached = f.end_offset
        if reached <= log.high_watermark:
            return False
        log.high_watermark = min(reached, log.end_offset)
        for callback, owner in self.unacknowledged.reached(log.high_watermark):
            self.environment.contain(callback, owner)
        self.changed()
        return True

    def changed(self) -> None:
        """Lets every Fetch that waits look whether it still has to."""
        for notify in [*self.waiting, *self.waiting_followers]:
            notify(0)

    def advance_log_start(self, offset: int) -> None:
        """Moves the log start offset of the leader up to `offset`; followers hear of it with their fetch."""
        self._advance_log_start(offset)
        self.topic.cluster.cleanup.log_start_moved(self)

    def delete_upto(self, broker: int, offset: int) -> None:
        """A replica is about to delete its segments below `offset`."""
        if broker == self.leader:
            self._advance_log_start(offset)
            return
        self.logs[broker].advance_start(offset)
        follower = self.followers.get(broker)
        if follower is not None and follower.state is FollowerState.IN_STEP:
            follower.start_offset = offset
            for look in list(self.deleting):
                look()

    def _advance_log_start(self, offset: int) -> None:
        self.log.advance_start(offset)
        for follower in self.followers.values():
            if follower.state is FollowerState.IN_STEP:
                own = follower.log
                own.high_watermark = max(own.high_watermark, min(offset, self.log.high_watermark))
                own.advance_start(offset)
                follower.start_offset = offset
        for notify in list(self.waiting_followers):
            notify(0)

    @property
    def low_watermark(self) -> int:
        """The least log start offset of replicas on live brokers, as far as the leader knows (KIP-107)."""
        brokers = self.topic.cluster.brokers
        told = [f.start_offset for f in self.followers.values() if not brokers[f.broker].gone]
        return min([self.log.start_offset, *told])

    @property
    def min_insync_replicas(self) -> int:
        """The topic's `min.insync.replicas`, which never asks for more replicas than there are."""
        return min(self.topic.settings.min_insync_replicas, len(self.replicas))

    # -- followers

    def follower_fetched(self, broker: int, offset: int, log_start_offset: int) -> None:
        """The leader hears of a follower's fetch: it may join the ISR, and the high watermark may move."""
        follower, log = self.followers.get(broker), self.log
        if follower is None or offset > log.end_offset:
            return
        follower.fetched(offset, log_start_offset, log.end_offset, self.environment.now_ms)
        if broker not in self.isr and in_sync.may_join(self, broker, offset):
            self.topic.cluster.grow_isr(self, broker)
        self.advance_high_watermark()
        for look in list(self.deleting):
            look()

    def ask_again(self) -> None:
        """Followers that rest fetch all the while: the ISR may be open to them now."""
        if not self.led:
            return
        for follower in self.followers.values():
            if follower.state is FollowerState.IN_STEP and follower.broker not in self.isr:
                self.follower_fetched(follower.broker, follower.log.end_offset, follower.log.start_offset)
        for notify in list(self.waiting_followers):
            notify(0)

    def stand_in(self, broker: int) -> None:
        """A client fetches as this follower, which makes room for it."""
        if (follower := self.followers.get(broker)) is not None:
            self.set_follower(broker, FollowerState.EXTERNAL, delay_ms=follower.delay_ms)

    def delay_of(self, broker: int) -> int:
        """How long each fetch of a follower takes, in ms."""
        return self.followers[broker].delay_ms if broker in self.followers else 0

    def _possible(self, broker: int, state: FollowerState) -> FollowerState:
        """The state itself, unless the broker is down or can't get to its leader."""
        known = self.topic.cluster.brokers[broker]
        if not known.online:
            return FollowerState.OFFLINE
        if self.leader in known.unreachable or broker in self.views or self.leader in self.views:
            return FollowerState.CUT_OFF
        return state

    def set_follower(self, broker: int, state: FollowerState, *, delay_ms: int = 0) -> None:
        """Lets a follower fetch again, slowly (each fetch takes `delay_ms`), or keeps it from fetching.

        One whose fetcher died stays dead, unless its broker goes down.
        """
        follower = self.followers.get(broker)
        if follower is None or (follower.state is state and follower.delay_ms == delay_ms):
            return
        if state is FollowerState.SLOW and follower.state is FollowerState.EXTERNAL:
            follower.delay_ms = delay_ms
            return
        if follower.state is FollowerState.FAILED and state is not FollowerState.OFFLINE:
            return
        follower.state = state = self._possible(broker, state)
        follower.delay_ms = delay_ms
        follower.turn += 1
        if state is FollowerState.OFFLINE:
            follower.cut = False
        if state in (FollowerState.BEHIND, FollowerState.SLOW):
            fetcher.start(self, follower)
        if follower.state is not FollowerState.IN_STEP:
            self._plan_isr_check()

    def _plan_isr_check(self) -> None:
        """Looks for followers that lag every half `replica.lag.time.max.ms`, while there may be any."""
        if not self._isr_check and self.followers and not self.deleted:
            self._isr_check = True
            environment, delay_ms = self.environment, max(1, in_sync.lag_ms(self) // 2)
            if self._rested_ms is not None:
                delay_ms -= (environment.now_ms - self._rested_ms) % delay_ms
                self._rested_ms = None
            environment.after(delay_ms, self._check_isr)

    def _check_isr(self) -> None:
        self._isr_check = False
        if not in_sync.drop_late(self):
            return
        if in_sync.at_rest(self):
            # The looks go on in the same rhythm when something is appended.
            self._rested_ms = self.environment.now_ms
        else:
            self._plan_isr_check()

    # -- what the controller decides

    def _register(self, registered: PartitionRegistration) -> None:
        # Answers that are yet to be written hold the lists: others take their place, they never change.
        self.replicas, self.isr = registered.replicas, registered.isr
        self.removing_replicas = registered.removing_replicas
        self.adding_replicas = registered.adding_replicas
        self.eligible_leader_replicas = registered.eligible_leader_replicas
        self.last_known_elr = registered.last_known_elr
        self.leader: int = registered.leader
        self.leader_epoch: int = registered.leader_epoch

    def change(
        self,
        *,
        isr: Sequence[int] | None = None,
        leader: int | None = None,
        **fields: Sequence[int],
    ) -> None:
        """The controller writes that, and with `leader` the next leader epoch."""
        cluster, topic_id = self.topic.cluster, self.topic.id
        cluster.write(PartitionChangeRecord(topic_id, self.index, isr, leader, **fields))
        self._register(cluster.metadata.image.registered(topic_id, self.index))

    # -- leadership

    def lead(self, broker: int) -> None:
        """Makes `broker` the leader of the next leader epoch; the others follow and truncate to its log."""
        self.tell_followers()
        now_ms = self.environment.now_ms
        were = self.followers
        self.topic.cluster.leader_changes(self)
        new = self.logs[broker]
        self.change(leader=broker)
        self.log = new
        if broker in self.views:
            # A coordinator may write before it has heard so.
            self._epoch_due = True
        else:
            self._enter_epoch()
        self.epoch_start_offset = self.log.end_offset
        self.followers = {
            b: Follower(b, self.logs[b], now_ms if b in self.isr else NEVER_MS)
            for b in self.replicas
            if b != broker
        }
        for follower in self.followers.values():
            follower.end_offset = new.shared_end(follower.log)
            was = were.get(follower.broker)
            if was is not None and was.state in HELD:
                follower.state, follower.delay_ms = was.state, was.delay_ms
            follower.state = self._possible(follower.broker, follower.state)
            if follower.state is not FollowerState.BEHIND:
                self._plan_isr_check()
        for follower in self.followers.values():
            fetcher.start(self, follower)
        self.advance_high_watermark()
        self._leader_changed()

    def _enter_epoch(self) -> None:
        self._epoch_due = self.policies[leader_epoch_entry] == "at-append"
        if not self._epoch_due:
            self.log.epochs.assign(self.leader_epoch, self.log.end_offset)

    def bump_epoch(self) -> None:
        """The same leader, in the next leader epoch; followers wait for it where it has not heard of that."""
        self.topic.cluster.leader_changes(self)
        self.change(leader=self.leader)
        if self.leader not in self.views:
            self._enter_epoch()
            self.topic.cluster.leader_changed(self)
        else:
            self._epoch_due = True
            for follower in self.followers.values():
                self.set_follower(follower.broker, FollowerState.CUT_OFF)
        self.changed()

    def lead_again(self) -> None:
        """The leader is back from a restart, in the same leader epoch, or hears that its epoch was bumped."""
        self.begin_epoch()
        self.topic.cluster.leader_changed(self)

    def begin_epoch(self) -> None:
        """The leader leads in the epoch of which it has heard."""
        self._enter_epoch()
        self.epoch_start_offset = self.log.end_offset

    def lose_leader(self) -> None:
        """No replica may lead."""
        self.topic.cluster.leader_changes(self)
        self.change(leader=NO_LEADER)
        self._leader_changed()

    def _leader_changed(self) -> None:
        if self.leader not in self.views:
            self.topic.cluster.leader_changed(self)
        self.release()

    def release(self) -> None:
        """Answers all that waits."""
        self._answer_appends()
        for look in list(self.deleting):
            look()
        self.changed()

    def delete(self) -> None:
        """The topic is deleted: answers all that waits but DeleteRecords, which waits until its time is over
        (`ReplicaManager.stopPartitions`)."""
        self.deleted = True
        self._answer_appends()
        self.changed()
        for view in list(self.views.values()):
            view.delete()

    def _answer_appends(self) -> None:
        for callback, owner in self.unacknowledged.take_all():
            self.environment.contain(callback, owner)
