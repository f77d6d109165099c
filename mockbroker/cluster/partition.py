"""A partition: its replicas, who leads, and appends to it."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..log.log import Log
from ..log.producer_state import ProducerStates
from ..log.segments import Segments
from ..protocol.errors import ErrorCode
from ..protocol.record_batch import Batch

if TYPE_CHECKING:
    from .topic import Topic


class Partition:
    """One partition of a topic. `log` is the leader's; each broker in `replicas` has one in `logs`."""

    __slots__ = (
        "index",
        "isr",
        "leader",
        "leader_epoch",
        "log",
        "logs",
        "replicas",
        "segments",
        "topic",
        "waiting",
    )

    def __init__(self, topic: "Topic", index: int, replicas: list[int]) -> None:
        self.topic = topic
        self.index = index
        self.replicas = replicas
        self.isr = list(replicas)
        self.leader = replicas[0]
        self.leader_epoch = 0
        self.logs = {broker: Log(ProducerStates(topic.policies)) for broker in replicas}
        self.log = self.logs[self.leader]
        self.log.epochs.assign(0, 0)
        cluster = topic.cluster
        self.segments = Segments(cluster.random, cluster.now_ms, topic.policies.retention_by_file_time)
        self.waiting: set[Callable[[int], None]] = set()
        """Called with the bytes that became readable below the high watermark."""

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

    def append(self, batch: Batch, base_offset: int, count: int) -> None:
        """Appends to the leader's log; the followers in sync hold the same batch when this returns."""
        log, cluster = self.log, self.topic.cluster
        if cluster.now_ms != self.segments.noted_ms:
            cluster.cleanup.appending(self, base_offset)
        log.append(batch, base_offset, count)
        if len(self.logs) > 1:
            for follower in self.logs.values():
                if follower is not log:
                    follower.append(batch, base_offset, count)
                    follower.epochs.assign(self.leader_epoch, base_offset)
                    follower.high_watermark = log.end_offset
        log.high_watermark = log.end_offset
        if self.waiting:
            for notify in list(self.waiting):
                notify(len(batch))

    def advance_log_start(self, offset: int) -> None:
        """Moves the log start offset of every replica up to `offset`."""
        self.segments.catch_up(self.log, self.topic.settings)
        for log in self.logs.values():
            log.advance_start(offset)
        for notify in list(self.waiting):
            notify(0)

    def end_offset_for_epoch(self, requested: int) -> tuple[int, int]:
        """(leader epoch, end offset) for OffsetForLeaderEpoch (`LeaderEpochFileCache.endOffsetFor`)."""
        log, policies = self.log, self.topic.policies
        cache = log.epochs
        if requested == -1:
            return policies.epoch_not_given(log.end_offset)
        if not cache.epochs or requested > cache.epochs[-1]:
            return policies.undefined_epoch(cache.latest, log.end_offset)
        if requested == cache.epochs[-1]:
            return requested, log.end_offset
        epoch, index = cache.floor(requested)
        if index < 0:
            return policies.epoch_below_first(requested, cache.starts[0], log.end_offset)
        return epoch, cache.starts[index + 1]

    def diverging_epoch(self, last_fetched_epoch: int, offset: int) -> tuple[int, int] | None:
        """Where a reader at `offset` with `last_fetched_epoch` left this log (KIP-595): (epoch, end offset),
        (-1, -1) when it did not, None when its epoch is unknown (`Partition.readRecords`)."""
        log = self.log
        epoch, end_offset = self.end_offset_for_epoch(last_fetched_epoch)
        if epoch == -1 or end_offset == -1:
            return None
        if offset < log.start_offset:
            return None
        if epoch < last_fetched_epoch or end_offset < offset:
            return epoch, end_offset
        return -1, -1
