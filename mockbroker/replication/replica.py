"""A replica of a partition: what its broker knows of the partition, its log, and who waits for it."""

from collections.abc import Callable
from typing import Final

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
"""When a follower was caught up that was not in the ISR as its leader began to lead."""
UNKNOWN_OFFSET: Final = -1


class Follower:
    """What a leader knows of one follower. `end_offset` and `start_offset` are what its last fetch told;
    `caught_up_ms` is when it last had all that the leader had.

    `replica` takes each batch as it is appended: it is in step.
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
        """The leader hears of a fetch at `offset` (`Replica.updateFetchStateOrThrow`)."""
        if offset >= leader_end:
            self.caught_up_ms = now_ms
        elif offset >= self.leader_end_at_fetch:
            self.caught_up_ms = max(self.caught_up_ms, self.fetched_ms)
        self.end_offset = offset
        self.start_offset = log_start_offset
        self.leader_end_at_fetch = leader_end
        self.fetched_ms = now_ms


class Replica:
    """The replica of `host`: leader, leader epoch, ISR and so on are as its broker knows them."""

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
        "log",
        "partition_epoch",
        "replicas",
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
        self.register(registered)
        self.log: Log = host.new_log(topic)
        self.epoch_start_offset = 0
        self.followers: dict[int, Follower] = {}
        """What the leader knows of them; empty elsewhere."""
        self.fetcher: Fetching | None = None
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

    def register(self, registered: PartitionRegistration) -> None:
        """Takes down what the partition is now."""
        # Answers that are yet to be written hold the lists: others take their place, they never change.
        self.replicas, self.isr = registered.replicas, registered.isr
        self.leader: int = registered.leader
        self.leader_epoch: int = registered.leader_epoch
        self.partition_epoch: int = registered.partition_epoch

    # -- what may be asked

    @property
    def policies(self) -> Policies:
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

    @property
    def is_under_min_isr(self) -> bool:
        """Whether fewer replicas are in sync than `min_insync_replicas` (`Partition.isUnderMinIsr`)."""
        count = len(self.isr)
        return count < len(self.replicas) and count < self.topic.settings.min_insync_replicas

    def lags(self, follower: Follower) -> bool:
        """Whether a follower has not caught up for longer than it may."""
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
        """To the least end offset of the ISR, and of those that are about to join it; never back. Whether it
        moved, of which all that wait are told."""
        log = self.log
        if self.is_under_min_isr and self.policies[high_watermark_below_min_isr] == "stays":
            return False
        reached = log.end_offset
        for f in self.followers.values():
            if f.end_offset < reached and (f.broker in self.isr or self.is_joining(f)):
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
