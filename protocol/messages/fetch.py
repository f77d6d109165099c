"""Fetch: api key 1, v0 to v18."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from ..primitives import Records
from .common import NO_LEADER, LeaderIdAndEpoch, NodeEndpoint, PartitionCode, Throttled
from .places import places


@dataclass(slots=True)
class ReplicaState:
    replica_id: int = -1  # v15+
    replica_epoch: int = -1  # v15+


@dataclass(slots=True)
class FetchPartition:
    partition: int = 0
    current_leader_epoch: int = -1  # v9+
    fetch_offset: int = 0
    last_fetched_epoch: int = -1  # v12+
    log_start_offset: int = -1  # v5+
    partition_max_bytes: int = 0
    replica_directory_id: UUID | None = None  # v17+
    high_watermark: int = 9223372036854775807  # v18+


@dataclass(slots=True)
class FetchTopic:
    topic_id: UUID | None = None  # v13+
    partitions: list[FetchPartition] = field(default_factory=list)
    topic: str = ""  # v0-12


@dataclass(slots=True)
class ForgottenTopic:
    topic_id: UUID | None = None  # v13+
    partitions: list[int] = field(default_factory=list)  # v7+
    topic: str = ""  # v7-12


@dataclass(slots=True)
class FetchRequest:
    cluster_id: str | None = None  # v12+
    replica_state: ReplicaState = field(default_factory=ReplicaState)  # v15+
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647  # v3+
    isolation_level: int = 0  # v4+
    session_id: int = 0  # v7+
    session_epoch: int = -1  # v7+
    topics: list[FetchTopic] = field(default_factory=list)
    forgotten_topics_data: list[ForgottenTopic] = field(default_factory=list)  # v7+
    rack_id: str = ""  # v11+
    replica_id: int = -1  # v0-14


@dataclass(slots=True, frozen=True)
class EpochEndOffset:
    epoch: int = -1  # v12+
    end_offset: int = -1  # v12+


@dataclass(slots=True, frozen=True)
class SnapshotId:
    end_offset: int = -1  # v12+
    epoch: int = -1  # v12+


NO_DIVERGENCE: Final = EpochEndOffset()
NO_SNAPSHOT: Final = SnapshotId()


@dataclass(slots=True)
class AbortedTransaction:
    producer_id: int = 0
    first_offset: int = 0


@dataclass(slots=True)
class PartitionData(PartitionCode):
    high_watermark: int = 0
    last_stable_offset: int = -1  # v4+
    log_start_offset: int = -1  # v5+
    diverging_epoch: EpochEndOffset = NO_DIVERGENCE  # v12+
    current_leader: LeaderIdAndEpoch = NO_LEADER  # v12+
    snapshot_id: SnapshotId = NO_SNAPSHOT  # v12+
    aborted_transactions: Sequence[AbortedTransaction] | None = ()  # v4+
    preferred_read_replica: int = -1  # v11+
    records: Records | None = None


@dataclass(slots=True)
class FetchableTopicResponse:
    topic_id: UUID | None = None  # v13+
    partitions: list[PartitionData] = places("partition", "partitions")
    topic: str = ""  # v0-12


@dataclass(slots=True)
class FetchResponse(Throttled):
    error_code: int = 0  # v7+
    session_id: int = 0  # v7+
    responses: list[FetchableTopicResponse] = places("topic", "topics")
    node_endpoints: Sequence[NodeEndpoint] = ()  # v16+
