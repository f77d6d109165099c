"""A partition as one broker has it: its log and, if it leads, how far the followers have come
(`Partition.scala`)."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..log.log import Log
from ..metadata.image import PartitionRegistration
from ..policies.epochs.epoch_below_first import epoch_below_first
from ..policies.epochs.epoch_lookup import epoch_lookup
from ..policies.epochs.epoch_not_given import epoch_not_given
from ..policies.epochs.leader_epoch_entry import leader_epoch_entry
from ..policies.epochs.undefined_epoch import undefined_epoch
from ..policies.followers.high_watermark_below_min_isr import high_watermark_below_min_isr
from ..protocol.errors import ErrorCode
from ..protocol.record_batch import Batch
from . import in_sync
from .awaited import Awaited
from .fetcher import Fetcher
from .follower import NEVER_MS, Follower, FollowerEvent
from .in_sync import IsrCheck
from .waiters import Waiters

if TYPE_CHECKING:
    from ..policies import Policies
    from .replica_manager import ReplicaManager
    from .topic import Topic

_LOOK = 0
"""What those who wait are told in place of a size when they have to look for themselves."""
REPLICA_FETCH_WAIT_MS = 500
"""Kafka's default for `replica.fetch.wait.max.ms`."""


class Partition:
    """One partition of a topic at `broker`, as this broker knows it: it leads, or follows by its `fetcher`.

    An append of the leader reaches followers in step at once, by reference. One that is paused, or replaced
    by a client, falls behind, leaves the ISR after `replica.lag.time.max.ms`, and holds the high watermark
    back until then.
    """

    __slots__ = (
        "_epoch_due",
        "_told_ms",
        "adding_replicas",
        "appended_ms",
        "broker",
        "deleted",
        "deleting",
        "eligible_leader_replicas",
        "environment",
        "epoch_start_offset",
        "fetcher",
        "followers",
        "host",
        "index",
        "isr",
        "isr_check",
        "last_known_elr",
        "leader",
        "leader_epoch",
        "log",
        "partition_epoch",
        "removing_replicas",
        "replicas",
        "topic",
        "unacknowledged",
        "waiting",
        "waiting_followers",
    )

    def __init__(
        self, host: "ReplicaManager", topic: "Topic", index: int, registered: PartitionRegistration
    ) -> None:
        self.host = host
        self.broker = host.broker
        self.topic = topic
        self.environment = host.environment
        self.index = index
        self._register(registered)
        self.log: Log = topic.new_log(host.broker)
        self.epoch_start_offset = 0
        self.followers: dict[int, Follower] = {}
        """What the leader knows of them; empty elsewhere."""
        self.fetcher: Fetcher | None = None
        """None while it leads."""
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
        self.isr_check = IsrCheck()
        self._epoch_due = False
        self._told_ms = 0

    # -- what may be asked

    @property
    def policies(self) -> "Policies":
        """The answers in force for this topic on this broker."""
        return self.environment.policies.at(self.topic.name, self.broker)

    @property
    def leads(self) -> bool:
        """Whether this broker leads it, as far as it knows."""
        return self.leader == self.broker

    def check_leader(self, current_leader_epoch: int = -1, any_replica: bool = False) -> ErrorCode:
        """Why the broker may not serve the partition to a client at `current_leader_epoch`; NONE if it may.

        The epoch comes first (KIP-320): FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, NOT_LEADER_OR_FOLLOWER.
        """
        if self.broker not in self.replicas:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if current_leader_epoch != -1 and current_leader_epoch != self.leader_epoch:
            if current_leader_epoch < self.leader_epoch:
                return ErrorCode.FENCED_LEADER_EPOCH
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if self.broker != self.leader and not any_replica:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    def end_offset_for_epoch(self, requested: int) -> tuple[int, int]:
        """(leader epoch, end offset) for OffsetForLeaderEpoch (`LeaderEpochFileCache.endOffsetFor`)."""
        log, policies = self.log, self.policies
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

    @property
    def low_watermark(self) -> int:
        """The least log start offset of replicas on live brokers, as far as the leader knows (KIP-107)."""
        told = [f.start_offset for f in self.followers.values() if not self.host.is_fenced(f.broker)]
        return min([self.log.start_offset, *told])

    @property
    def min_insync_replicas(self) -> int:
        """The topic's `min.insync.replicas`, which never asks for more replicas than there are."""
        return min(self.topic.settings.min_insync_replicas, len(self.replicas))

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
                if follower.replica is not None:
                    remember(follower.replica.log)
        if now_ms != self.appended_ms:
            self._plan_cleanup()
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

    def _plan_cleanup(self) -> None:
        cleanup = self.host.cleanup
        cleanup.appending(self)
        for follower in self.followers.values():
            if follower.replica is not None:
                cleanup.appending(follower.replica)

    def _replicate(self, batch: Batch, base_offset: int, count: int, timestamp: int) -> bool:
        """Whether those who wait for what can be read have been told."""
        log, now_ms = self.log, self.environment.now_ms
        self._told_ms = now_ms + REPLICA_FETCH_WAIT_MS
        all_in_step = True
        for follower in self.followers.values():
            replica = follower.replica
            if replica is not None:
                own = replica.log
                own.high_watermark = log.high_watermark
                own.append(batch, base_offset, count, timestamp, now_ms)
                own.epochs.assign(self.leader_epoch, base_offset)
                follower.end_offset = log.end_offset
                follower.caught_up_ms = now_ms
                if replica.waiting:
                    replica.changed()
            else:
                all_in_step = False
        if all_in_step and len(self.isr) == len(self.replicas):
            log.high_watermark = log.end_offset
            return False
        size = _LOOK if log.segments.begins_at(base_offset) else len(batch)
        for notify in list(self.waiting_followers):
            notify(size)
        self.isr_check.plan(self)
        return self.advance_high_watermark()

    def tell_followers(self) -> None:
        """Followers in step hear of the high watermark with their next fetch, at the latest when the one
        that waits is answered empty. A leader that died tells them nothing."""
        if self.followers and self.environment.now_ms >= self._told_ms and self.host.online:
            for follower in self.followers.values():
                if follower.replica is not None:
                    follower.replica.log.high_watermark = self.log.high_watermark

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
        for follower in self.followers.values():
            if follower.replica is not None and follower.replica.waiting:
                follower.replica.changed()

    # -- the log start offset

    def advance_log_start(self, offset: int) -> None:
        """Moves the log start offset of the leader up to `offset`; followers hear of it with their fetch."""
        self._advance_log_start(offset)
        self.host.cleanup.log_start_moved(self)
        for follower in self.followers.values():
            if follower.replica is not None:
                self.host.cleanup.log_start_moved(follower.replica)

    def delete_upto(self, offset: int) -> None:
        """The broker is about to delete its segments below `offset`."""
        if self.leads:
            self._advance_log_start(offset)
            return
        self.log.advance_start(offset)
        if self.fetcher is not None and self.fetcher.source is not None:
            self.fetcher.source.log_start_told(self.broker, offset)

    def log_start_told(self, broker: int, offset: int) -> None:
        """The leader hears of the log start offset of a follower in step."""
        self.followers[broker].start_offset = offset
        for look in list(self.deleting):
            look()

    def _advance_log_start(self, offset: int) -> None:
        self.log.advance_start(offset)
        for follower in self.followers.values():
            if follower.replica is not None:
                own = follower.replica.log
                own.high_watermark = max(own.high_watermark, min(offset, self.log.high_watermark))
                own.advance_start(offset)
                follower.start_offset = offset
        for notify in list(self.waiting_followers):
            notify(0)

    # -- followers, as their leader sees them

    def follower_fetched(self, broker: int, offset: int, log_start_offset: int) -> None:
        """The leader hears of a follower's fetch: it may join the ISR, and the high watermark may move."""
        follower, log = self.followers.get(broker), self.log
        if follower is None or offset > log.end_offset:
            return
        follower.fetched(offset, log_start_offset, log.end_offset, self.environment.now_ms)
        if broker not in self.isr and in_sync.may_join(self, broker, offset):
            self.host.peers.alter_isr(self, in_sync.joined(self, broker))
        self.advance_high_watermark()
        if offset < log.end_offset:
            self.isr_check.plan(self)
        for look in list(self.deleting):
            look()

    def ask_again(self) -> None:
        """Followers in step fetch all the while: the ISR may be open to them now."""
        for follower in list(self.followers.values()):
            replica = follower.replica
            if replica is not None and follower.broker not in self.isr:
                self.follower_fetched(follower.broker, replica.log.end_offset, replica.log.start_offset)
        for notify in list(self.waiting_followers):
            notify(0)

    def take_along(self, replica: "Partition") -> None:
        """From now on a follower that has all gets each batch as it is appended."""
        self.followers[replica.broker].replica = replica

    def leave_behind(self, broker: int) -> None:
        """From now on a follower gets what it fetches."""
        follower = self.followers.get(broker)
        if follower is not None and follower.replica is not None:
            follower.replica = None
            self.isr_check.plan(self)

    def stand_in(self, broker: int) -> None:
        """A client fetches as this follower, which makes room for it."""
        fetcher = self.host.peers.fetcher_of(self, broker) if broker in self.followers else None
        if fetcher is not None:
            fetcher.on(FollowerEvent.REPLACE, fetcher.delay_ms)

    def delay_of(self, broker: int) -> int:
        """How long each fetch of a follower takes, in ms."""
        fetcher = self.host.peers.fetcher_of(self, broker) if broker in self.followers else None
        return 0 if fetcher is None else fetcher.delay_ms

    # -- what the controller has decided

    def _register(self, registered: PartitionRegistration) -> None:
        # Answers that are yet to be written hold the lists: others take their place, they never change.
        self.replicas, self.isr = registered.replicas, registered.isr
        self.removing_replicas = registered.removing_replicas
        self.adding_replicas = registered.adding_replicas
        self.eligible_leader_replicas = registered.eligible_leader_replicas
        self.last_known_elr = registered.last_known_elr
        self.leader: int = registered.leader
        self.leader_epoch: int = registered.leader_epoch
        self.partition_epoch: int = registered.partition_epoch

    def begin(self) -> None:
        """The broker hears of the partition, of which it has no record yet."""
        if self.leads:
            self._enter_epoch()
            self._know_followers(self.environment.now_ms)
            self.host.peers.leads(self)
            self.host.peers.leadership_changed(self)
        else:
            self.fetcher = Fetcher(self)
            self.fetcher.on(FollowerEvent.START)

    def update(self, registered: PartitionRegistration) -> None:
        """The broker hears what the partition is now; nothing happens where it knew."""
        if registered.partition_epoch <= self.partition_epoch:
            return
        new_epoch = registered.leader_epoch != self.leader_epoch
        led = self.leads
        if led and new_epoch:
            self.tell_followers()
        self._register(registered)
        if new_epoch:
            if self.leads:
                self.lead()
            else:
                self._follow()
            if led or self.leads:
                self.host.peers.leadership_changed(self)
            self.release()
        elif self.leads:
            self._know_followers(NEVER_MS)
            self.advance_high_watermark()

    def lead(self) -> None:
        """Leads in a leader epoch of which it has just heard, or in the one it had before a restart."""
        if self.fetcher is not None:
            self.fetcher.end()
            self.fetcher = None
        self._enter_epoch()
        self.epoch_start_offset = self.log.end_offset
        self._let_go(self.followers)
        self.followers = {}
        self._know_followers(self.environment.now_ms)
        if self.log.end_offset:
            self.isr_check.plan(self)
        self.advance_high_watermark()
        self.host.peers.leads(self)

    def _enter_epoch(self) -> None:
        self._epoch_due = self.policies[leader_epoch_entry] == "at-append"
        if not self._epoch_due:
            self.log.epochs.assign(self.leader_epoch, self.log.end_offset)

    def _know_followers(self, caught_up_ms: int) -> None:
        """Of replicas that are new it knows nothing yet; those that are gone get nothing more."""
        for broker in self.replicas:
            if broker != self.broker and broker not in self.followers:
                since_ms = caught_up_ms if broker in self.isr else NEVER_MS
                self.followers[broker] = Follower(broker, since_ms, self.log.end_offset)
        self._let_go([each for each in self.followers if each not in self.replicas])

    def _let_go(self, brokers: Iterable[int]) -> None:
        for broker in list(brokers):
            replica = self.followers.pop(broker).replica
            if replica is not None and replica.fetcher is not None:
                replica.fetcher.lose_leader()

    def _follow(self) -> None:
        self._let_go(self.followers)
        if self.fetcher is None:
            self.fetcher = Fetcher(self)
            if self.host.fetches:
                self.fetcher.on(FollowerEvent.START)
        else:
            self.fetcher.follow()

    def leave(self, registered: PartitionRegistration) -> None:
        """The broker has no replica any more."""
        led = self.leads
        if led:
            self.tell_followers()
        self._let_go(self.followers)
        if self.fetcher is not None:
            self.fetcher.end()
        self._register(registered)
        self.host.cleanup.forget(self)
        if led:
            self.host.peers.leadership_changed(self)
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
        self.host.cleanup.forget(self)
        if self.fetcher is not None:
            self.fetcher.end()
        self._answer_appends()
        self.changed()

    def _answer_appends(self) -> None:
        for callback, owner in self.unacknowledged.take_all():
            self.environment.contain(callback, owner)
