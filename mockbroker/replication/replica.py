"""A replica of a partition: what its broker knows about the partition, its log, and who waits for it."""

from collections.abc import Callable
from typing import Final

from ..configs import TopicSettings
from ..log.log import Log
from ..metadata.image import PartitionRegistration
from ..policies import Policies
from ..policies.epochs.epoch_below_first import epoch_below_first
from ..policies.epochs.epoch_lookup import epoch_lookup
from ..policies.epochs.epoch_not_given import epoch_not_given
from ..policies.epochs.undefined_epoch import undefined_epoch
from ..policies.followers.high_watermark_below_min_isr import high_watermark_below_min_isr
from ..protocol.errors import ErrorCode
from .awaited import Awaited
from .peers import Attached, Fetching, Host, HostedTopic
from .waiters import Waiters

NEVER_MS: Final = 0
"""The time since when a follower has kept up that was not in the ISR when its leader began to lead."""
UNKNOWN_OFFSET: Final = -1


class Follower:
    """What a leader knows about one follower. `end_offset` and `start_offset` are from its last fetch;
    `caught_up_ms` is when it last had everything that the leader had.

    If `replica` is set, the follower keeps up, and that replica gets each batch when it is appended.
    """

    __slots__ = (
        "broker",
        "caught_up_ms",
        "end_offset",
        "fetched_ms",
        "leader_end_at_fetch",
        "replica",
        "start_offset",
    )

    def __init__(self, broker: int, caught_up_ms: int, leader_end: int) -> None:
        self.broker = broker
        self.replica: Attached | None = None
        self.end_offset = UNKNOWN_OFFSET
        self.start_offset = UNKNOWN_OFFSET
        self.caught_up_ms = caught_up_ms
        self.fetched_ms = caught_up_ms
        self.leader_end_at_fetch = leader_end

    def fetched(self, offset: int, log_start_offset: int, leader_end: int, now_ms: int) -> None:
        """The leader learns of a fetch at `offset` (`Replica.updateFetchStateOrThrow`)."""
        if offset >= leader_end:
            self.caught_up_ms = now_ms
        elif offset >= self.leader_end_at_fetch:
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.end_offset = offset
        self.start_offset = log_start_offset
        self.leader_end_at_fetch = leader_end
        self.fetched_ms = now_ms


class Replica:
    """The replica on `host`: leader, leader epoch, ISR and so on are as its broker knows them."""

    __slots__ = (
        "appended_ms",
        "broker",
        "deleted",
        "deleting",
        "environment",
        "epoch_start_offset",
        "fetcher",
        "followers",
        "host",
        "index",
        "isr",
        "leader",
        "leader_epoch",
        "leads",
        "led_since",
        "log",
        "partition_epoch",
        "replicas",
        "sessions",
        "stats",
        "topic",
        "unacknowledged",
        "waiting",
        "waiting_followers",
    )

    def __init__(self, host: Host, topic: HostedTopic, index: int, registered: PartitionRegistration) -> None:
        self.host = host
        self.broker = host.broker
        self.topic = topic
        self.environment = host.environment
        self.index = index
        self.leads = False
        """Whether this broker leads it, as far as it knows."""
        self.register(registered)
        self.log: Log = host.new_log(topic)
        self.stats = host.stats.of(topic)
        self.epoch_start_offset = 0
        self.followers: dict[int, Follower] = {}
        """What the leader knows about its followers; empty on followers."""
        self.fetcher: Fetching | None = None
        """None while this broker leads."""
        self.appended_ms: int | None = None
        """The time of the last append, None if the next one has to be reported whatever its time."""
        self.waiting: Waiters[Callable[[int], None]] = Waiters()
        """Called with the number of bytes that became readable below the high watermark; with 0 if something
        else about the partition changed."""
        self.waiting_followers: Waiters[Callable[[int], None]] = Waiters()
        """Called with the number of bytes that were appended."""
        self.sessions: Waiters[Callable[[int | None], None]] = Waiters()
        """Called as `waiting`, and with None if nothing but the log start offset moved: fetch sessions of
        consumers."""
        self.unacknowledged = Awaited()
        """What to call once the high watermark has reached an offset, and for which request."""
        self.deleting: Waiters[Callable[[], None]] = Waiters()
        """Called when a follower has reported its log start offset, or the leader changed."""
        self.deleted = False
        """Whether its topic was deleted."""

    def register(self, registered: PartitionRegistration) -> None:
        """Takes over the present state of the partition."""
        # Answers that are not encoded yet refer to these lists, so they are replaced and never changed.
        self.replicas, self.isr = registered.replicas, registered.isr
        self.leader: int = registered.leader
        leads = registered.leader == self.broker
        if not (self.leads and leads):
            self.led_since: int = registered.leader_epoch
            """The leader epoch in which this broker came to lead it; it may have been elected again since."""
        self.leads = leads
        self.leader_epoch: int = registered.leader_epoch
        self.partition_epoch: int = registered.partition_epoch

    # -- what may be asked

    @property
    def policies(self) -> Policies:
        """The answers in force for this topic on this broker."""
        policies = self.environment.policies
        return policies.at(self.topic.name, self.broker) if policies.scoped else policies

    def check_leader(self, current_leader_epoch: int = -1, any_replica: bool = False) -> ErrorCode:
        """Why the broker may not serve the partition to a client at `current_leader_epoch`; NONE if it may.

        The epoch is checked first (KIP-320): FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH,
        NOT_LEADER_OR_FOLLOWER.
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
        """The lowest log start offset of replicas on live brokers, as far as the leader knows (KIP-107)."""
        starts = [f.start_offset for f in self.followers.values() if not self.host.is_fenced(f.broker)]
        return min([self.log.start_offset, *starts])

    @property
    def settings(self) -> TopicSettings:
        """The topic's effective configuration, as the broker knows it."""
        return self.log.segments.settings

    @property
    def min_insync_replicas(self) -> int:
        """The topic's `min.insync.replicas`, but no more than there are replicas."""
        return min(self.settings.min_insync_replicas, len(self.replicas))

    @property
    def is_under_min_isr(self) -> bool:
        """Whether fewer replicas are in sync than `min_insync_replicas` (`Partition.isUnderMinIsr`)."""
        count = len(self.isr)
        return count < len(self.replicas) and count < self.settings.min_insync_replicas

    def lags(self, follower: Follower) -> bool:
        """Whether a follower has not caught up for longer than `replica.lag.time.max.ms`."""
        return self.environment.now_ms - follower.caught_up_ms > self.longest_lag_ms

    @property
    def longest_lag_ms(self) -> int:
        """`replica.lag.time.max.ms`."""
        return self.environment.configs.broker_int("replica.lag.time.max.ms")

    def is_joining(self, follower: Follower) -> bool:
        """Whether the high watermark waits for a follower that is not in the ISR yet."""
        return not self.lags(follower) and not self.host.is_fenced(follower.broker)

    # -- who waits

    def when_replicated(self, offset: int, callback: Callable[[], None]) -> None:
        """Calls back once the high watermark has reached `offset`, or the leader changed."""
        self.unacknowledged.add(offset, callback, self.environment.at_work)

    def forget(self, callback: Callable[[], None]) -> None:
        self.unacknowledged.discard(callback)

    def advance_high_watermark(self) -> bool:
        """Advances it to the lowest log end offset of the ISR and of replicas that are about to join it;
        never back. Returns whether it moved; then everyone who waits is told."""
        log = self.log
        isr = self.isr
        if (
            len(isr) < len(self.replicas)
            and self.is_under_min_isr
            and self.policies[high_watermark_below_min_isr] == "stays"
        ):
            return False
        reached = log.end_offset
        for f in self.followers.values():
            if f.end_offset < reached and (f.broker in isr or self.is_joining(f)):
                reached = f.end_offset
        if reached <= log.high_watermark:
            return False
        log.high_watermark = min(reached, log.end_offset)
        for callback, owner in self.unacknowledged.reached(log.high_watermark):
            self.environment.contain(callback, owner)
        self.changed()
        return True

    def changed(self) -> None:
        """Makes every Fetch that waits check whether it still has to."""
        for notify in [*self.waiting, *self.waiting_followers, *self.sessions]:
            notify(0)
        for follower in self.followers.values():
            if follower.replica is not None and follower.replica.waiting:
                follower.replica.changed()
