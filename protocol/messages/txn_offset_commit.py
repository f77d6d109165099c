"""TxnOffsetCommit: api key 28, v0 to v6."""

from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True)
class TxnOffsetCommitRequestPartition:
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1  # v2+
    committed_metadata: str | None = None


@dataclass(slots=True)
class TxnOffsetCommitRequestTopic:
    name: str = ""  # v0-5
    partitions: list[TxnOffsetCommitRequestPartition] = field(default_factory=list)
    topic_id: UUID | None = None  # v6+


@dataclass(slots=True)
class TxnOffsetCommitRequest:
    transactional_id: str = ""
    group_id: str = ""
    producer_id: int = 0
    producer_epoch: int = 0
    generation_id: int = -1  # v3+
    member_id: str = ""  # v3+
    group_instance_id: str | None = None  # v3+
    topics: list[TxnOffsetCommitRequestTopic] = field(default_factory=list)


@dataclass(slots=True)
class TxnOffsetCommitResponsePartition:
    partition_index: int = 0
    error_code: int = 0


@dataclass(slots=True)
class TxnOffsetCommitResponseTopic:
    name: str = ""  # v0-5
    partitions: list[TxnOffsetCommitResponsePartition] = field(default_factory=list)
    topic_id: UUID | None = None  # v6+


@dataclass(slots=True)
class TxnOffsetCommitResponse:
    throttle_time_ms: int = 0
    topics: list[TxnOffsetCommitResponseTopic] = field(default_factory=list)
