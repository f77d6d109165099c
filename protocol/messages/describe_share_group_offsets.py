"""DescribeShareGroupOffsets: api key 90, v0 and v1 (KIP-932, KIP-1226)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import Throttled
from .places import places


@dataclass(slots=True)
class DescribeShareGroupOffsetsRequestTopic:
    topic_name: str = ""
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class DescribeShareGroupOffsetsRequestGroup:
    group_id: str = ""
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = field(default_factory=list)


@dataclass(slots=True)
class DescribeShareGroupOffsetsRequest:
    groups: list[DescribeShareGroupOffsetsRequestGroup] = field(default_factory=list)


@dataclass(slots=True)
class DescribeShareGroupOffsetsResponsePartition:
    partition_index: int = 0
    start_offset: int = 0
    leader_epoch: int = 0
    lag: int = -1  # v1+
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class DescribeShareGroupOffsetsResponseTopic:
    topic_name: str = ""
    topic_id: UUID | None = None
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = places("partition", "partitions")


@dataclass(slots=True)
class DescribeShareGroupOffsetsResponseGroup:
    group_id: str = ""
    topics: list[DescribeShareGroupOffsetsResponseTopic] = places("topic", "topics")
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class DescribeShareGroupOffsetsResponse(Throttled):
    groups: list[DescribeShareGroupOffsetsResponseGroup] = places("group", "groups")
