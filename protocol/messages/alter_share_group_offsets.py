"""AlterShareGroupOffsets: api key 91, v0 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import PartitionCode, TopCode
from .places import places


@dataclass(slots=True)
class AlterShareGroupOffsetsRequestPartition:
    partition_index: int = 0
    start_offset: int = 0


@dataclass(slots=True)
class AlterShareGroupOffsetsRequestTopic:
    topic_name: str = ""
    partitions: list[AlterShareGroupOffsetsRequestPartition] = field(default_factory=list)


@dataclass(slots=True)
class AlterShareGroupOffsetsRequest:
    group_id: str = ""
    topics: list[AlterShareGroupOffsetsRequestTopic] = field(default_factory=list)


@dataclass(slots=True)
class AlterShareGroupOffsetsResponsePartition(PartitionCode):
    error_message: str | None = None


@dataclass(slots=True)
class AlterShareGroupOffsetsResponseTopic:
    topic_name: str = ""
    topic_id: UUID | None = None
    partitions: list[AlterShareGroupOffsetsResponsePartition] = places("partition", "partitions")


@dataclass(slots=True)
class AlterShareGroupOffsetsResponse(TopCode):
    error_message: str | None = None
    responses: list[AlterShareGroupOffsetsResponseTopic] = places("topic", "topics")
