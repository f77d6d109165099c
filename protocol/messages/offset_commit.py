"""OffsetCommit: api key 8, v0 to v10."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import PartitionCode
from .places import places


@dataclass(slots=True)
class OffsetCommitRequestPartition:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1  # v6+
    committed_metadata: str | None = None
    commit_timestamp: int = -1  # v1


@dataclass(slots=True)
class OffsetCommitRequestTopic:
    topic_id: UUID | None = None  # v10+
    partitions: list[OffsetCommitRequestPartition] = field(default_factory=list)
    name: str = ""  # v0-9


@dataclass(slots=True)
class OffsetCommitRequest:
    group_id: str = ""
    generation_id_or_member_epoch: int = -1  # v1+
    member_id: str = ""  # v1+
    group_instance_id: str | None = None  # v7+
    topics: list[OffsetCommitRequestTopic] = field(default_factory=list)
    retention_time_ms: int = -1  # v2-4


@dataclass(slots=True)
class OffsetCommitResponseTopic:
    topic_id: UUID | None = None  # v10+
    partitions: list[PartitionCode] = places("partition", "partitions")
    name: str = ""  # v0-9


@dataclass(slots=True)
class OffsetCommitResponse:
    throttle_time_ms: int = 0  # v3+
    topics: list[OffsetCommitResponseTopic] = places("topic", "topics")
