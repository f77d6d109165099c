"""InitializeShareGroupState: api key 83, v0 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .of_share_groups import ShareStateChanged


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
class InitializeShareGroupStateResponse(ShareStateChanged):
    pass
