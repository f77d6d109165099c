"""ListPartitionReassignments: api key 46, v0 to v0."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .common import NamePartitionIndexes, TopCode
from .places import places


@dataclass(slots=True)
class ListPartitionReassignmentsRequest:
    timeout_ms: int = 60000
    topics: list[NamePartitionIndexes] | None = field(default_factory=list)


@dataclass(slots=True)
class OngoingPartitionReassignment:
    partition_index: int = 0
    replicas: Sequence[int] = field(default_factory=list)
    adding_replicas: Sequence[int] = field(default_factory=list)
    removing_replicas: Sequence[int] = field(default_factory=list)


@dataclass(slots=True)
class OngoingTopicReassignment:
    name: str = ""
    partitions: list[OngoingPartitionReassignment] = places("partition", "partition_indexes")


@dataclass(slots=True)
class ListPartitionReassignmentsResponse(TopCode):
    error_message: str | None = None
    topics: list[OngoingTopicReassignment] = places("topic", "topics")
