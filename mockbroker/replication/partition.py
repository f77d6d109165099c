"""A partition on one broker: it leads, and knows how far its followers have come, or it follows
(`Partition.scala`).

The controller decides who leads, and counts its decisions: the leader epoch goes up with each leader, the
partition epoch with each change. A broker acts on the newest decision that it has heard of, which need not
be the newest there is: for a while two brokers may both lead, and their epochs tell which of them is out of
date. A request that names another leader epoch is refused (FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH).

Only the leader takes records from producers, and gives each batch its offset and its epoch. Followers copy
its log. The in-sync replicas (ISR) are the leader and the followers that keep up. The high watermark is the
offset below which all of them have everything: consumers read up to it, and acks=all is answered when it
has passed the batch. So any replica of the ISR may become the leader, and nothing that was acknowledged in
this way is lost. A leader out of it (unclean) may not have all of that.

The leader asks the controller to add a follower to the ISR once it has caught up, and to remove one that
has lagged for `replica.lag.time.max.ms`; until the controller agrees, the ISR stays as it was. A broker
that stops leading truncates its log to where the new leader's begins to differ, which it finds by leader
epochs.
"""

from collections.abc import Callable, Iterable
from typing import Final

from ..configs import TopicSettings
from ..log.leader_epochs import UNDEFINED
from ..log.log import Log
from ..metadata.image import PartitionRegistration
from ..policies.epochs.leader_epoch_entry import leader_epoch_entry
from ..policies.epochs.old_format_epochs import old_format_epochs
from ..policies.followers.diverging_fetch import diverging_fetch
from ..policies.followers.fetch_log_start_offset import fetch_log_start_offset
from ..protocol.messages.fetch import NO_DIVERGENCE, FetchPartition, PartitionData
from ..protocol.record_batch import MAGIC, Batch, OldBatch
from . import in_sync, reading
from .fetcher import Fetcher
from .in_sync import IsrCheck
from .peers import Attached, Host, HostedTopic
from .replica import NEVER_MS, Follower, Replica
from .states import FollowerEvent

_LOOK: Final = 0
"""Given to callbacks in place of a size when they have to check for themselves."""


class Partition(Replica):
    """One partition of a topic on `broker`, as this broker knows it: it leads, or follows with its `fetcher`.

    What the leader appends reaches followers that keep up at once, by reference. A follower that is paused,
    or replaced by a client, falls behind, leaves the ISR after `replica.lag.time.max.ms`, and holds the high
    watermark back until then.
    """

    __slots__ = ("_epoch_due", "_isr_check", "_written_ms")

    def __init__(self, host: Host, topic: HostedTopic, index: int, registered: PartitionRegistration) -> None:
        super().__init__(host, topic, index, registered)
        self._isr_check = IsrCheck()
        self._epoch_due = False
        self._written_ms = NEVER_MS

    # -- appends

    def append_as_leader(
        self,
        batch: Batch,
        base_offset: int,
        count: int,
        timestamp: int,
        remember: Callable[[Log], None] | None = None,
    ) -> None:
        """Appends a batch with this max timestamp to the leader's log, and to the logs of followers that keep
        up.

        `remember` records the batch's producer in each log, and is called first, because callbacks of the
        append must see a transaction that is up to date; or it appends the messages that come before.
        """
        log, now_ms = self.log, self.environment.now_ms
        if remember is not None:
            remember(log)
            for follower in self.followers.values():
                if follower.replica is not None:
                    remember(follower.replica.log)
        if now_ms != self.appended_ms:
            self.host.cleanup.appending([self, *self._in_step()])
        if self._epoch_due and type(batch) is not OldBatch:
            self._epoch_due = False
            log.epochs.assign(self.leader_epoch, base_offset, keep_empty=True)
        log.append(batch, base_offset, count, timestamp, now_ms)
        notified = False
        if not self.followers:
            log.high_watermark = log.end_offset
        else:
            notified = self._replicate(batch, base_offset, count, timestamp)
        if (self.waiting or self.sessions) and not notified and log.high_watermark == log.end_offset:
            size = self._told(batch, base_offset)
            for notify in [*self.waiting, *self.sessions]:
                notify(size)

    def _told(self, batch: Batch, base_offset: int) -> int:
        """The size of what was appended, for callbacks. A message of magic 0 or 1 may not be all of it."""
        look = type(batch) is OldBatch or self.log.segments.begins_at(base_offset)
        return _LOOK if look else len(batch)

    def _in_step(self) -> list[Attached]:
        return [each.replica for each in self.followers.values() if each.replica is not None]

    def _replicate(self, batch: Batch, base_offset: int, count: int, timestamp: int) -> bool:
        """Returns whether those who wait for readable data have been notified."""
        log, now_ms = self.log, self.environment.now_ms
        self._written_ms = now_ms
        all_in_step = True
        epoch = self.leader_epoch if type(batch) is not OldBatch else UNDEFINED
        for follower in self.followers.values():
            replica = follower.replica
            if replica is not None:
                own = replica.log
                own.high_watermark = log.high_watermark
                own.append(batch, base_offset, count, timestamp, now_ms)
                own.epochs.assign(epoch, base_offset)
                follower.end_offset = log.end_offset
                follower.caught_up_ms = now_ms
                if replica.waiting:
                    replica.changed()
            else:
                all_in_step = False
        if all_in_step and len(self.isr) == len(self.replicas):
            log.high_watermark = log.end_offset
            return False
        size = self._told(batch, base_offset)
        for notify in list(self.waiting_followers):
            notify(size)
        self._isr_check.plan(self)
        return self.advance_high_watermark()

    def tell_followers(self) -> None:
        """Followers that keep up learn the high watermark with their next fetch: at the latest when a fetch
        that waits gets an empty answer. A leader that died tells them nothing."""
        if not self.followers or not self.host.online:
            return
        wait_ms = self.environment.configs.broker_int("replica.fetch.wait.max.ms")
        if self.environment.now_ms >= self._written_ms + wait_ms:
            for replica in self._in_step():
                replica.log.high_watermark = self.log.high_watermark

    # -- the log start offset

    def advance_log_start(self, offset: int) -> None:
        """Advances the leader's log start offset to `offset`; followers learn of it with their fetch."""
        self._advance_log_start(offset)
        self.host.cleanup.log_start_moved(self)
        for replica in self._in_step():
            self.host.cleanup.log_start_moved(replica)

    def delete_upto(self, offset: int) -> None:
        """The broker is about to delete its segments below `offset`."""
        if self.leads:
            self._advance_log_start(offset)
            return
        self.log.advance_start(offset)
        if self.fetcher is not None and self.fetcher.source is not None:
            self.fetcher.source.log_start_told(self.broker, offset)

    def log_start_told(self, broker: int, offset: int) -> None:
        """The leader learns the log start offset of a follower that keeps up."""
        self.followers[broker].start_offset = offset
        for look in list(self.deleting):
            look()

    def _advance_log_start(self, offset: int) -> None:
        self.log.advance_start(offset)
        for tell in list(self.sessions):
            tell(None)
        for follower in self.followers.values():
            if follower.replica is not None:
                own = follower.replica.log
                own.high_watermark = max(own.high_watermark, min(offset, self.log.high_watermark))
                own.advance_start(offset)
                follower.start_offset = offset
        for notify in list(self.waiting_followers):
            notify(0)

    # -- followers, as their leader sees them

    def knows(self, broker: int) -> bool:
        """Whether this broker has learned of the follower."""
        return broker in self.followers

    def follower_fetched(self, broker: int, offset: int, log_start_offset: int) -> None:
        """The leader learns of a follower's fetch: it may join the ISR, and the high watermark may
        advance."""
        follower, log = self.followers.get(broker), self.log
        if follower is None or offset > log.end_offset:
            return
        follower.fetched(offset, log_start_offset, log.end_offset, self.environment.now_ms)
        if broker not in self.isr and in_sync.may_join(self, broker, offset):
            self.host.peers.alter_isr(self, in_sync.joined(self, broker))
        self.advance_high_watermark()
        if offset < log.end_offset:
            self._isr_check.plan(self)
        for look in list(self.deleting):
            look()

    def ask_again(self) -> None:
        """Followers that keep up fetch all the time: they may be able to join the ISR now."""
        for follower in list(self.followers.values()):
            replica = follower.replica
            if replica is not None and follower.broker not in self.isr:
                self.follower_fetched(follower.broker, replica.log.end_offset, replica.log.start_offset)
        for notify in list(self.waiting_followers):
            notify(0)

    def fetch(self, asked: FetchPartition, replica: int) -> PartitionData:
        """The answer to a follower, whose progress this broker has then recorded."""
        result = reading.read(self, asked, replica=replica)
        self.heard(replica, asked, result)
        return result

    def heard(self, replica: int, asked: FetchPartition, result: PartitionData) -> None:
        """Records how far a follower is, after a read for it."""
        counts = result.diverging_epoch is NO_DIVERGENCE or self.policies[diverging_fetch] == "counted"
        if not result.error_code and counts:
            self.follower_fetched(replica, asked.fetch_offset, asked.log_start_offset)

    def refresh(self, result: PartitionData) -> None:
        """Updates an answer that was delayed, as far as leaders do that (KAFKA-7104)."""
        if not result.error_code and self.policies[fetch_log_start_offset] == "live":
            result.high_watermark = self.log.high_watermark
            result.log_start_offset = self.log.start_offset

    def take_along(self, replica: Attached) -> None:
        """From now on a follower that has everything gets each batch when it is appended."""
        self.followers[replica.broker].replica = replica

    def leave_behind(self, broker: int) -> None:
        """From now on a follower gets only what it fetches."""
        follower = self.followers.get(broker)
        if follower is not None and follower.replica is not None:
            follower.replica = None
            self._isr_check.plan(self)

    def stand_in(self, broker: int) -> None:
        """A client fetches as this follower, which stops fetching itself."""
        fetcher = self.host.peers.fetcher_of(self, broker) if broker in self.followers else None
        if fetcher is not None:
            fetcher.on(FollowerEvent.REPLACE, fetcher.delay_ms)

    def delay_of(self, broker: int) -> int:
        """How long each fetch of a follower takes, in ms."""
        fetcher = self.host.peers.fetcher_of(self, broker) if broker in self.followers else None
        return 0 if fetcher is None else fetcher.delay_ms

    # -- what the controller has decided

    def configure(self, settings: TopicSettings) -> None:
        """The broker learns the present configuration of the topic. Messages from before 0.11 have no leader
        epochs, so none is remembered then; later the next batch begins one."""
        log = self.log
        was_old, is_old = (each.magic != MAGIC for each in (self.settings, settings))
        log.segments.configure(settings)
        if was_old is not is_old and self.policies[old_format_epochs] == "forgotten":
            log.keep_epochs(not is_old)
            self._epoch_due = self.leads and not is_old

    def begin(self) -> None:
        """The broker learns of a partition that it does not know yet."""
        if self.settings.magic != MAGIC and self.policies[old_format_epochs] == "forgotten":
            self.log.keep_epochs(False)
        if self.leads:
            self._enter_epoch()
            self._know_followers(self.environment.now_ms)
            self.host.peers.leads(self)
            if self.leader_epoch:
                self.host.peers.leadership_changed(self)
        else:
            self.fetcher = Fetcher(self)
            if self.host.fetches:
                self.fetcher.on(FollowerEvent.START)

    def update(self, registered: PartitionRegistration) -> None:
        """The broker learns the present state of the partition; does nothing if it knew that."""
        if registered.partition_epoch <= self.partition_epoch:
            return
        new_epoch, before = registered.leader_epoch != self.leader_epoch, self.replicas
        led, leads = self.leader == self.broker, registered.leader == self.broker
        if led and new_epoch:
            self.tell_followers()
        self.register(registered)
        if new_epoch:
            if leads:
                self.lead()
            else:
                self._follow()
            if led or leads:
                self.host.peers.leadership_changed(self)
            self.release()
        elif leads:
            if self.replicas is not before and self._know_followers(NEVER_MS):
                self.host.peers.leads(self)
            self.advance_high_watermark()

    def lead(self) -> None:
        """Leads in a leader epoch that it has just learned of, or that it was in before a restart."""
        self._end_fetching()
        self._enter_epoch()
        self.epoch_start_offset = self.log.end_offset
        self._let_go(self.followers)
        self.followers = {}
        self._know_followers(self.environment.now_ms)
        if self.log.end_offset:
            self._isr_check.plan(self)
        self.advance_high_watermark()
        self.host.peers.leads(self)

    def _enter_epoch(self) -> None:
        self._epoch_due = self.policies[leader_epoch_entry] == "at-append"
        if not self._epoch_due:
            self.log.epochs.assign(self.leader_epoch, self.log.end_offset)

    def _know_followers(self, caught_up_ms: int) -> bool:
        """Forgets replicas that are gone, and knows nothing yet about new ones. Returns whether there are new
        ones."""
        new = [each for each in self.replicas if each != self.broker and each not in self.followers]
        for broker in new:
            since_ms = caught_up_ms if broker in self.isr else NEVER_MS
            self.followers[broker] = Follower(broker, since_ms, self.log.end_offset)
        self._let_go([each for each in self.followers if each not in self.replicas])
        return bool(new)

    def _let_go(self, brokers: Iterable[int]) -> None:
        for broker in list(brokers):
            replica = self.followers.pop(broker).replica
            if replica is not None:
                replica.lose_leader()

    def lose_leader(self) -> None:
        """The leader with which it kept up no longer leads, or leads in another epoch."""
        if self.fetcher is not None:
            self.fetcher.source = None
            self.fetcher.on(FollowerEvent.LOSE)

    def _follow(self) -> None:
        self._let_go(self.followers)
        if self.fetcher is None:
            self.fetcher = Fetcher(self)
            if self.host.fetches:
                self.fetcher.on(FollowerEvent.START)
        else:
            self.fetcher.follow()

    def _end_fetching(self) -> None:
        """Ends its fetcher and drops it: each refers to the other."""
        if self.fetcher is not None:
            self.fetcher.end()
            self.fetcher = None

    def leave(self, registered: PartitionRegistration) -> None:
        """The broker no longer has a replica."""
        led = self.leads
        if led:
            self.tell_followers()
        self._let_go(self.followers)
        self._end_fetching()
        self.register(registered)
        self.host.cleanup.forget(self)
        if led:
            self.host.peers.leadership_changed(self)
        self.release()

    def release(self) -> None:
        """Answers everything that waits."""
        self._answer_appends()
        for look in list(self.deleting):
            look()
        self.changed()

    def delete(self) -> None:
        """The topic is deleted: answers everything that waits except DeleteRecords, which waits until its
        time is over (`ReplicaManager.stopPartitions`)."""
        self.deleted = True
        self.host.cleanup.forget(self)
        self._end_fetching()
        self._answer_appends()
        self.changed()

    def _answer_appends(self) -> None:
        for callback, owner in self.unacknowledged.take_all():
            self.environment.contain(callback, owner)
