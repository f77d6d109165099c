"""TxnOffsetCommit: api key 28, v0 to v6."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import Throttled
from .offset_commit import OffsetCommitRequestPartition, OffsetCommitResponseTopic
from .places import places


@dataclass(slots=True)
class TxnOffsetCommitRequestTopic:
    name: str = ""  # v0-5
    partitions: list[OffsetCommitRequestPartition] = field(default_factory=list)
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
class TxnOffsetCommitResponse(Throttled):
    topics: list[OffsetCommitResponseTopic] = places("topic", "topics")
