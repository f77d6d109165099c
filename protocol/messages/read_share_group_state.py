"""ReadShareGroupState: api key 84, v0 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import places


@dataclass(slots=True)
class PartitionData:
    partition: int = 0
    leader_epoch: int = 0


@dataclass(slots=True)
class ReadStateData:
    topic_id: UUID | None = None
    partitions: list[PartitionData] = field(default_factory=list)


@dataclass(slots=True)
class ReadShareGroupStateRequest:
    group_id: str = ""
    topics: list[ReadStateData] = field(default_factory=list)


@dataclass(slots=True)
class StateBatch:
    first_offset: int = 0
    last_offset: int = 0
    delivery_state: int = 0
    delivery_count: int = 0


@dataclass(slots=True)
class PartitionResult:
    partition: int = 0
    error_code: int = 0
    error_message: str | None = None
    state_epoch: int = 0
    start_offset: int = 0
    state_batches: list[StateBatch] = field(default_factory=list)


@dataclass(slots=True)
class ReadStateResult:
    topic_id: UUID | None = None
    partitions: list[PartitionResult] = places("partition", "partitions")


@dataclass(slots=True)
class ReadShareGroupStateResponse:
    results: list[ReadStateResult] = places("topic", "topics")
