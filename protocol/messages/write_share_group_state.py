"""WriteShareGroupState: api key 85, v0 and v1 (KIP-932, KIP-1226)."""

from dataclasses import dataclass, field
from uuid import UUID

from .of_share_groups import ShareStateBatch, ShareStateChanged


@dataclass(slots=True)
class PartitionData:
    partition: int = 0
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1  # v1+
    state_batches: list[ShareStateBatch] = field(default_factory=list)


@dataclass(slots=True)
class WriteStateData:
    topic_id: UUID | None = None
    partitions: list[PartitionData] = field(default_factory=list)


@dataclass(slots=True)
class WriteShareGroupStateRequest:
    group_id: str = ""
    topics: list[WriteStateData] = field(default_factory=list)


@dataclass(slots=True)
class WriteShareGroupStateResponse(ShareStateChanged):
    pass
