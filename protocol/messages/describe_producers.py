"""DescribeProducers: api key 61, v0."""

from dataclasses import dataclass, field

from .common import NamePartitionIndexes, PartitionCode, Throttled
from .places import places


@dataclass(slots=True)
class DescribeProducersRequest:
    topics: list[NamePartitionIndexes] = field(default_factory=list)


@dataclass(slots=True)
class ProducerState:
    producer_id: int = 0
    producer_epoch: int = 0
    last_sequence: int = -1
    last_timestamp: int = -1
    coordinator_epoch: int = 0
    current_txn_start_offset: int = -1


@dataclass(slots=True)
class PartitionResponse(PartitionCode):
    error_message: str | None = None
    active_producers: list[ProducerState] = field(default_factory=list)


@dataclass(slots=True)
class TopicResponse:
    name: str = ""
    partitions: list[PartitionResponse] = places("partition", "partition_indexes")


@dataclass(slots=True)
class DescribeProducersResponse(Throttled):
    topics: list[TopicResponse] = places("topic", "topics")
