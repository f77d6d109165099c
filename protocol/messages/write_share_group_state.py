"""WriteShareGroupState: api key 85, v0 and v1 (KIP-932, KIP-1226)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import places


@dataclass(slots=True)
class StateBatch:
    first_offset: int = 0
    last_offset: int = 0
    delivery_state: int = 0
    delivery_count: int = 0


@dataclass(slots=True)
class PartitionData:
    partition: int = 0
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1  # v1+
    state_batches: list[StateBatch] = field(default_factory=list)


@dataclass(slots=True)
class WriteStateData:
    topic_id: UUID | None = None
    partitions: list[PartitionData] = field(default_factory=list)


@dataclass(slots=True)
class WriteShareGroupStateRequest:
    group_id: str = ""
    topics: list[WriteStateData] = field(default_factory=list)


@dataclass(slots=True)
class PartitionResult:
    partition: int = 0
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class WriteStateResult:
    topic_id: UUID | None = None
    partitions: list[PartitionResult] = places("partition", "partitions")


@dataclass(slots=True)
class WriteShareGroupStateResponse:
    results: list[WriteStateResult] = places("topic", "topics")
