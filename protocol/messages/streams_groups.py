"""What requests and answers about streams groups have in common (KIP-1071, KIP-1331)."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class KeyValue:
    key: str = ""
    value: str = ""


@dataclass(slots=True)
class TopicInfo:
    """0 partitions: as many as the topics have that it depends on; replication factor 0: the default."""

    name: str = ""
    partitions: int = 0
    replication_factor: int = 0
    topic_configs: list[KeyValue] = field(default_factory=list)


@dataclass(slots=True)
class Endpoint:
    host: str = ""
    port: int = 0


@dataclass(slots=True)
class TaskOffset:
    subtopology_id: str = ""
    partition: int = 0
    offset: int = 0


@dataclass(slots=True)
class TaskIds:
    subtopology_id: str = ""
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class TopologyDescriptionNode:
    """Its type is 1 for a source, 2 for a processor, 3 for a sink."""

    name: str = ""
    node_type: int = 0
    source_topics: list[str] = field(default_factory=list)
    sink_topic: str | None = None
    stores: list[str] = field(default_factory=list)
    successors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class TopologyDescriptionSubtopology:
    subtopology_id: str = ""
    nodes: list[TopologyDescriptionNode] = field(default_factory=list)


@dataclass(slots=True)
class TopologyDescriptionGlobalStore:
    source: TopologyDescriptionNode = field(default_factory=TopologyDescriptionNode)
    processor: TopologyDescriptionNode = field(default_factory=TopologyDescriptionNode)


@dataclass(slots=True)
class TopologyDescription:
    subtopologies: list[TopologyDescriptionSubtopology] = field(default_factory=list)
    global_stores: list[TopologyDescriptionGlobalStore] = field(default_factory=list)
