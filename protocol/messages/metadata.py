"""Metadata: api key 3, v0 to v13."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import PartitionMetadata
from .places import places


@dataclass(slots=True)
class MetadataRequestTopic:
    topic_id: UUID | None = None  # v10+
    name: str | None = None


@dataclass(slots=True)
class MetadataRequest:
    topics: list[MetadataRequestTopic] | None = field(default_factory=list)
    allow_auto_topic_creation: bool = True  # v4+
    include_topic_authorized_operations: bool = False  # v8+
    include_cluster_authorized_operations: bool = False  # v8-10


@dataclass(slots=True)
class MetadataResponseBroker:
    node_id: int = 0
    host: str = ""
    port: int = 0
    rack: str | None = None  # v1+


@dataclass(slots=True)
class MetadataResponsePartition(PartitionMetadata):
    offline_replicas: list[int] = field(default_factory=list)  # v5+


@dataclass(slots=True)
class MetadataResponseTopic:
    error_code: int = 0
    name: str | None = None
    topic_id: UUID | None = None  # v10+
    is_internal: bool = False  # v1+
    partitions: list[MetadataResponsePartition] = places("partition")
    topic_authorized_operations: int = -2147483648  # v8+


@dataclass(slots=True)
class MetadataResponse:
    throttle_time_ms: int = 0  # v3+
    brokers: list[MetadataResponseBroker] = field(default_factory=list)
    cluster_id: str | None = None  # v2+
    controller_id: int = -1  # v1+
    topics: list[MetadataResponseTopic] = places("topic", "topics")
    error_code: int = 0  # v13+
    cluster_authorized_operations: int = -2147483648  # v8-10


def upgrade(request: MetadataRequest, version: int) -> MetadataRequest:
    """In v0 an empty list means all topics, as null does since v1."""
    if version < 1 and not request.topics:
        request.topics = None
    return request
