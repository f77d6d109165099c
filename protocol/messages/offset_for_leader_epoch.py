"""OffsetForLeaderEpoch: api key 23, v0 to v4."""

from dataclasses import dataclass, field

from .common import Throttled
from .places import places


@dataclass(slots=True)
class OffsetForLeaderPartition:
    partition: int = 0
    current_leader_epoch: int = -1  # v2+
    leader_epoch: int = 0


@dataclass(slots=True)
class OffsetForLeaderTopic:
    topic: str = ""
    partitions: list[OffsetForLeaderPartition] = field(default_factory=list)


@dataclass(slots=True)
class OffsetForLeaderEpochRequest:
    replica_id: int = -2  # v3+
    topics: list[OffsetForLeaderTopic] = field(default_factory=list)


@dataclass(slots=True)
class EpochEndOffset:
    error_code: int = 0
    partition: int = 0
    leader_epoch: int = -1  # v1+
    end_offset: int = -1


@dataclass(slots=True)
class OffsetForLeaderTopicResult:
    topic: str = ""
    partitions: list[EpochEndOffset] = places("partition", "partitions")


@dataclass(slots=True)
class OffsetForLeaderEpochResponse(Throttled):
    topics: list[OffsetForLeaderTopicResult] = places("topic", "topics")
