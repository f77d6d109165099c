"""InitializeShareGroupState: api key 83, v0 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import places


@dataclass(slots=True)
class PartitionData:
    partition: int = 0
    state_epoch: int = 0
    start_offset: int = 0


@dataclass(slots=True)
class InitializeStateData:
    topic_id: UUID | None = None
    partitions: list[PartitionData] = field(default_factory=list)


@dataclass(slots=True)
class InitializeShareGroupStateRequest:
    group_id: str = ""
    topics: list[InitializeStateData] = field(default_factory=list)


@dataclass(slots=True)
class PartitionResult:
    partition: int = 0
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class InitializeStateResult:
    topic_id: UUID | None = None
    partitions: list[PartitionResult] = places("partition", "partitions")


@dataclass(slots=True)
class InitializeShareGroupStateResponse:
    results: list[InitializeStateResult] = places("topic", "topics")
