"""OffsetDelete: api key 47, v0 to v0."""

from dataclasses import dataclass, field

from .common import PartitionIndex, TopicCodes
from .places import places


@dataclass(slots=True)
class OffsetDeleteRequestTopic:
    name: str = ""
    partitions: list[PartitionIndex] = field(default_factory=list)


@dataclass(slots=True)
class OffsetDeleteRequest:
    group_id: str = ""
    topics: list[OffsetDeleteRequestTopic] = field(default_factory=list)


@dataclass(slots=True)
class OffsetDeleteResponse:
    error_code: int = 0
    throttle_time_ms: int = 0
    topics: list[TopicCodes] = places("topic", "topics")
