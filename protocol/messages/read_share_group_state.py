"""ReadShareGroupState: api key 84, v0 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .of_share_groups import ShareStateBatch, ShareStateOutcome, ShareTopicAtEpochs
from .places import places


@dataclass(slots=True)
class ReadShareGroupStateRequest:
    group_id: str = ""
    topics: list[ShareTopicAtEpochs] = field(default_factory=list)


@dataclass(slots=True)
class PartitionResult(ShareStateOutcome):
    state_epoch: int = 0
    start_offset: int = 0
    state_batches: list[ShareStateBatch] = field(default_factory=list)


@dataclass(slots=True)
class ReadStateResult:
    topic_id: UUID | None = None
    partitions: list[PartitionResult] = places("partition", "partitions")


@dataclass(slots=True)
class ReadShareGroupStateResponse:
    results: list[ReadStateResult] = places("topic", "topics")
