"""A follower of a partition: its own log, and what the leader knows of it (`Replica.java`)."""

import enum
from typing import TYPE_CHECKING

from ..log.log import Log
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import PartitionData

if TYPE_CHECKING:
    from .partition import Partition


class FollowerState(enum.Enum):
    """Whether a follower fetches."""

    IN_STEP = "has all that the leader has, and takes each batch as it is appended"
    BEHIND = "fetches to catch up"
    PAUSED = "does not fetch"
    EXTERNAL = "a client fetches in its place"
    OFFLINE = "its broker is down"


class Follower:
    """One follower. `end_offset` and `start_offset` are what its last fetch told the leader; `caught_up_ms`
    is when it last had all that the leader had."""

    __slots__ = (
        "broker",
        "caught_up_ms",
        "end_offset",
        "fetched_ms",
        "leader_end_at_fetch",
        "log",
        "start_offset",
        "state",
    )

    def __init__(self, broker: int, log: Log, now_ms: int) -> None:
        self.broker = broker
        self.log = log
        self.state = FollowerState.BEHIND
        self.end_offset = log.end_offset
        self.start_offset = log.start_offset
        self.caught_up_ms = now_ms
        self.fetched_ms = now_ms
        self.leader_end_at_fetch = log.end_offset

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

    def apply(self, result: PartitionData, partition: "Partition") -> bool:
        """Does with an answer to its fetch what a follower does; False when there was nothing new."""
        log = self.log
        if result.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            return self._out_of_range(partition)
        if result.error_code:
            return False
        if result.diverging_epoch.epoch != -1:
            epoch, end_offset = result.diverging_epoch.epoch, result.diverging_epoch.end_offset
            log.truncate(min(end_offset, log.end_offset_of(epoch)))
            return True
        before = log.end_offset, log.high_watermark, log.start_offset
        for batch in result.records or ():
            log.append_replicated(batch)
        log.high_watermark = min(result.high_watermark, log.end_offset)
        log.advance_start(min(result.log_start_offset, log.end_offset))
        return (log.end_offset, log.high_watermark, log.start_offset) != before

    def _out_of_range(self, partition: "Partition") -> bool:
        """Beyond the leader's end it is cut there; below its start it begins again there."""
        leader, log = partition.log, self.log
        if log.end_offset > leader.end_offset:
            log.truncate(leader.end_offset)
        elif log.end_offset < leader.start_offset:
            log.begin_at(leader.start_offset)
        else:
            return False
        return True
