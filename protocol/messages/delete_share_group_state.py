"""DeleteShareGroupState: api key 86, v0 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .of_share_groups import ShareStateChanged


@dataclass(slots=True)
class PartitionData:
    partition: int = 0


@dataclass(slots=True)
class DeleteStateData:
    topic_id: UUID | None = None
    partitions: list[PartitionData] = field(default_factory=list)


@dataclass(slots=True)
class DeleteShareGroupStateRequest:
    group_id: str = ""
    topics: list[DeleteStateData] = field(default_factory=list)


@dataclass(slots=True)
class DeleteShareGroupStateResponse(ShareStateChanged):
    pass
