"""DescribeQuorum: api key 55, v0 to v2."""

import uuid
from dataclasses import dataclass, field

from .common import PartitionCode, PartitionIndex
from .places import places


@dataclass(slots=True)
class AskedTopic:
    topic_name: str = ""
    partitions: list[PartitionIndex] = field(default_factory=list)


@dataclass(slots=True)
class DescribeQuorumRequest:
    topics: list[AskedTopic] = field(default_factory=list)


@dataclass(slots=True)
class ReplicaState:
    """Times are Unix times in ms, -1 if unknown."""

    replica_id: int = 0
    replica_directory_id: uuid.UUID | None = None  # v2+
    log_end_offset: int = 0
    last_fetch_timestamp: int = -1  # v1+
    last_caught_up_timestamp: int = -1  # v1+


@dataclass(slots=True)
class PartitionData(PartitionCode):
    error_message: str | None = None  # v2+
    leader_id: int = 0
    leader_epoch: int = 0
    high_watermark: int = 0
    current_voters: list[ReplicaState] = field(default_factory=list)
    observers: list[ReplicaState] = field(default_factory=list)


@dataclass(slots=True)
class TopicData:
    topic_name: str = ""
    partitions: list[PartitionData] = places("partition", "partitions")


@dataclass(slots=True)
class Listener:
    name: str = ""
    host: str = ""
    port: int = 0


@dataclass(slots=True)
class Node:
    node_id: int = 0
    listeners: list[Listener] = field(default_factory=list)


@dataclass(slots=True)
class DescribeQuorumResponse:
    error_code: int = 0
    error_message: str | None = None  # v2+
    topics: list[TopicData] = places("topic", "topics")
    nodes: list[Node] = field(default_factory=list)  # v2+
