"""ElectLeaders: api key 43, v0 to v2."""

from dataclasses import dataclass, field

from .common import Throttled, TopicPartitions
from .places import places


@dataclass(slots=True)
class ElectLeadersRequest:
    election_type: int = 0  # v1+
    topic_partitions: list[TopicPartitions] | None = field(default_factory=list)
    timeout_ms: int = 60000


@dataclass(slots=True)
class PartitionResult:
    partition_id: int = 0
    error_code: int = 0
    error_message: str | None = None


@dataclass(slots=True)
class ReplicaElectionResult:
    topic: str = ""
    partition_result: list[PartitionResult] = places("partition", "partitions")


@dataclass(slots=True)
class ElectLeadersResponse(Throttled):
    error_code: int = 0  # v1+
    replica_election_results: list[ReplicaElectionResult] = places("topic", "topic_partitions")
