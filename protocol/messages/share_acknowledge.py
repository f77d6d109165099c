"""ShareAcknowledge: api key 79, v1 and v2 (KIP-932, KIP-1222)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import NOBODY_TOLD, LeaderIdAndEpoch, NodeEndpoint, PartitionCode, TopCode, places


@dataclass(slots=True)
class AcknowledgementBatch:
    first_offset: int = 0
    last_offset: int = 0
    acknowledge_types: list[int] = field(default_factory=list)


@dataclass(slots=True)
class AcknowledgePartition:
    partition_index: int = 0
    acknowledgement_batches: list[AcknowledgementBatch] = field(default_factory=list)


@dataclass(slots=True)
class AcknowledgeTopic:
    topic_id: UUID | None = None
    partitions: list[AcknowledgePartition] = field(default_factory=list)


@dataclass(slots=True)
class ShareAcknowledgeRequest:
    group_id: str | None = None
    member_id: str | None = None
    share_session_epoch: int = 0
    is_renew_ack: bool = False  # v2+
    topics: list[AcknowledgeTopic] = field(default_factory=list)


@dataclass(slots=True)
class PartitionData(PartitionCode):
    error_message: str | None = None
    current_leader: LeaderIdAndEpoch = NOBODY_TOLD


@dataclass(slots=True)
class ShareAcknowledgeTopicResponse:
    topic_id: UUID | None = None
    partitions: list[PartitionData] = places("partition", "partitions")


@dataclass(slots=True)
class ShareAcknowledgeResponse(TopCode):
    error_message: str | None = None
    acquisition_lock_timeout_ms: int = 0  # v2+
    responses: list[ShareAcknowledgeTopicResponse] = places("topic", "topics")
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)
