"""ReadShareGroupStateSummary: api key 87, v0 and v1 (KIP-932, KIP-1226)."""

from dataclasses import dataclass, field
from uuid import UUID

from .of_share_groups import ShareStateOutcome, ShareTopicAtEpochs
from .places import places


@dataclass(slots=True)
class ReadShareGroupStateSummaryRequest:
    group_id: str = ""
    topics: list[ShareTopicAtEpochs] = field(default_factory=list)


@dataclass(slots=True)
class PartitionResult(ShareStateOutcome):
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1  # v1+


@dataclass(slots=True)
class ReadStateSummaryResult:
    topic_id: UUID | None = None
    partitions: list[PartitionResult] = places("partition", "partitions")


@dataclass(slots=True)
class ReadShareGroupStateSummaryResponse:
    results: list[ReadStateSummaryResult] = places("topic", "topics")
