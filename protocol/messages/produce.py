"""Produce: api key 0, v0 to v13."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from .common import NO_LEADER, LeaderIdAndEpoch, NodeEndpoint
from .places import places


@dataclass(slots=True)
class PartitionProduceData:
    index: int = 0
    records: bytes | memoryview | None = None


@dataclass(slots=True)
class TopicProduceData:
    topic_id: UUID | None = None  # v13+
    partition_data: list[PartitionProduceData] = field(default_factory=list)
    name: str = ""  # v0-12


@dataclass(slots=True)
class ProduceRequest:
    transactional_id: str | None = None  # v3+
    acks: int = 0
    timeout_ms: int = 0
    topic_data: list[TopicProduceData] = field(default_factory=list)


@dataclass(slots=True)
class BatchIndexAndErrorMessage:
    batch_index: int = 0  # v8+
    batch_index_error_message: str | None = None  # v8+


@dataclass(slots=True)
class PartitionProduceResponse:
    index: int = 0
    error_code: int = 0
    base_offset: int = 0
    log_append_time_ms: int = -1  # v2+
    log_start_offset: int = -1  # v5+
    record_errors: Sequence[BatchIndexAndErrorMessage] = ()  # v8+
    error_message: str | None = None  # v8+
    current_leader: LeaderIdAndEpoch = NO_LEADER  # v10+


@dataclass(slots=True)
class TopicProduceResponse:
    topic_id: UUID | None = None  # v13+
    partition_responses: list[PartitionProduceResponse] = places("partition", "partition_data")
    name: str = ""  # v0-12


@dataclass(slots=True)
class ProduceResponse:
    responses: list[TopicProduceResponse] = places("topic", "topic_data")
    throttle_time_ms: int = 0  # v1+
    node_endpoints: Sequence[NodeEndpoint] = ()  # v10+
