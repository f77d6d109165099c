"""ListPartitionReassignments: api key 46, v0 to v0."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class ListPartitionReassignmentsTopics:
    name: str = ""
    partition_indexes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ListPartitionReassignmentsRequest:
    timeout_ms: int = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = field(default_factory=list)


@dataclass(slots=True)
class OngoingPartitionReassignment:
    partition_index: int = 0
    replicas: Sequence[int] = field(default_factory=list)
    adding_replicas: Sequence[int] = field(default_factory=list)
    removing_replicas: Sequence[int] = field(default_factory=list)


@dataclass(slots=True)
class OngoingTopicReassignment:
    name: str = ""
    partitions: list[OngoingPartitionReassignment] = field(default_factory=list)


@dataclass(slots=True)
class ListPartitionReassignmentsResponse:
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    topics: list[OngoingTopicReassignment] = field(default_factory=list)
