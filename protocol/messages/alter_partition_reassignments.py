"""AlterPartitionReassignments: api key 45, v0 to v1."""

from dataclasses import dataclass, field

from .common import PartitionCode, Throttled
from .places import places


@dataclass(slots=True)
class ReassignablePartition:
    partition_index: int = 0
    replicas: list[int] | None = None


@dataclass(slots=True)
class ReassignableTopic:
    name: str = ""
    partitions: list[ReassignablePartition] = field(default_factory=list)


@dataclass(slots=True)
class AlterPartitionReassignmentsRequest:
    timeout_ms: int = 60000
    allow_replication_factor_change: bool = True  # v1+
    topics: list[ReassignableTopic] = field(default_factory=list)


@dataclass(slots=True)
class ReassignablePartitionResponse(PartitionCode):
    error_message: str | None = None


@dataclass(slots=True)
class ReassignableTopicResponse:
    name: str = ""
    partitions: list[ReassignablePartitionResponse] = places("partition", "partitions")


@dataclass(slots=True)
class AlterPartitionReassignmentsResponse(Throttled):
    allow_replication_factor_change: bool = True  # v1+
    error_code: int = 0
    error_message: str | None = None
    responses: list[ReassignableTopicResponse] = places("topic", "topics")
