"""ShareAcknowledge: api key 79, v1 and v2 (KIP-932, KIP-1222)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import NOBODY_TOLD, LeaderIdAndEpoch, NodeEndpoint, PartitionCode, TopCode
from .of_share_groups import AcknowledgedTopic
from .places import places


@dataclass(slots=True)
class ShareAcknowledgeRequest:
    group_id: str | None = None
    member_id: str | None = None
    share_session_epoch: int = 0
    is_renew_ack: bool = False  # v2+
    topics: list[AcknowledgedTopic] = field(default_factory=list)


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
