"""DescribeTopicPartitions: api key 75, v0 to v0."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from .common import PartitionMetadata, Throttled
from .places import places


@dataclass(slots=True)
class TopicRequest:
    name: str = ""


@dataclass(slots=True)
class Cursor:
    topic_name: str = ""
    partition_index: int = 0


@dataclass(slots=True)
class DescribeTopicPartitionsRequest:
    topics: list[TopicRequest] = field(default_factory=list)
    response_partition_limit: int = 2000
    cursor: Cursor | None = None


@dataclass(slots=True)
class DescribeTopicPartitionsResponsePartition(PartitionMetadata):
    eligible_leader_replicas: Sequence[int] | None = None
    last_known_elr: Sequence[int] | None = None
    offline_replicas: Sequence[int] = field(default_factory=list)


@dataclass(slots=True)
class DescribeTopicPartitionsResponseTopic:
    error_code: int = 0
    name: str | None = None
    topic_id: UUID | None = None
    is_internal: bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition] = places("partition")
    topic_authorized_operations: int = -2147483648


@dataclass(slots=True)
class DescribeTopicPartitionsResponse(Throttled):
    topics: list[DescribeTopicPartitionsResponseTopic] = places("topic", "topics")
    next_cursor: Cursor | None = None
