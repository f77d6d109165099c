"""ShareFetch: api key 78, v1 and v2 (KIP-932, KIP-1206, KIP-1222)."""

from dataclasses import dataclass, field
from uuid import UUID

from ..primitives import Records
from .common import NOBODY_TOLD, LeaderIdAndEpoch, NodeEndpoint, PartitionCode, TopCode
from .of_share_groups import AcknowledgedTopic
from .places import places


@dataclass(slots=True)
class ForgottenTopic:
    topic_id: UUID | None = None
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ShareFetchRequest:
    group_id: str | None = None
    member_id: str | None = None
    share_session_epoch: int = 0
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    max_records: int = 0
    batch_size: int = 0
    share_acquire_mode: int = 0  # v2+
    is_renew_ack: bool = False  # v2+
    topics: list[AcknowledgedTopic] = field(default_factory=list)
    forgotten_topics_data: list[ForgottenTopic] = field(default_factory=list)


@dataclass(slots=True)
class AcquiredRecords:
    first_offset: int = 0
    last_offset: int = 0
    delivery_count: int = 0


@dataclass(slots=True)
class PartitionData(PartitionCode):
    error_message: str | None = None
    acknowledge_error_code: int = 0
    acknowledge_error_message: str | None = None
    current_leader: LeaderIdAndEpoch = NOBODY_TOLD
    records: Records | None = ()
    acquired_records: list[AcquiredRecords] = field(default_factory=list)


@dataclass(slots=True)
class ShareFetchableTopicResponse:
    topic_id: UUID | None = None
    partitions: list[PartitionData] = places("partition", "partitions")


@dataclass(slots=True)
class ShareFetchResponse(TopCode):
    error_message: str | None = None
    acquisition_lock_timeout_ms: int = 0
    responses: list[ShareFetchableTopicResponse] = places("topic", "topics")
    node_endpoints: list[NodeEndpoint] = field(default_factory=list)
