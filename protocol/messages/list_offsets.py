"""ListOffsets: api key 2, v0 to v11."""

from dataclasses import dataclass, field

from .common import PartitionCode
from .places import places


@dataclass(slots=True)
class ListOffsetsPartition:
    partition_index: int = 0
    current_leader_epoch: int = -1  # v4+
    timestamp: int = 0
    max_num_offsets: int = 1  # v0


@dataclass(slots=True)
class ListOffsetsTopic:
    name: str = ""
    partitions: list[ListOffsetsPartition] = field(default_factory=list)


@dataclass(slots=True)
class ListOffsetsRequest:
    replica_id: int = 0
    isolation_level: int = 0  # v2+
    topics: list[ListOffsetsTopic] = field(default_factory=list)
    timeout_ms: int = 0  # v10+


@dataclass(slots=True)
class ListOffsetsPartitionResponse(PartitionCode):
    timestamp: int = -1  # v1+
    offset: int = -1  # v1+
    leader_epoch: int = -1  # v4+
    old_style_offsets: list[int] = field(default_factory=list)  # v0


@dataclass(slots=True)
class ListOffsetsTopicResponse:
    name: str = ""
    partitions: list[ListOffsetsPartitionResponse] = places("partition", "partitions")


@dataclass(slots=True)
class ListOffsetsResponse:
    throttle_time_ms: int = 0  # v2+
    topics: list[ListOffsetsTopicResponse] = places("topic", "topics")
