"""StreamsGroupHeartbeat: api key 88, v0 and v1 (KIP-1071, KIP-1331)."""

from dataclasses import dataclass, field, replace

from .common import TopCode
from .streams_groups import Endpoint, KeyValue, TaskIds, TaskOffset, TopicInfo


@dataclass(slots=True)
class CopartitionGroup:
    """Topics by their places in the lists of the subtopology."""

    source_topics: list[int] = field(default_factory=list)
    source_topic_regex: list[int] = field(default_factory=list)
    repartition_source_topics: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Subtopology:
    subtopology_id: str = ""
    source_topics: list[str] = field(default_factory=list)
    source_topic_regex: list[str] = field(default_factory=list)
    state_changelog_topics: list[TopicInfo] = field(default_factory=list)
    repartition_sink_topics: list[str] = field(default_factory=list)
    repartition_source_topics: list[TopicInfo] = field(default_factory=list)
    copartition_groups: list[CopartitionGroup] = field(default_factory=list)


@dataclass(slots=True)
class Topology:
    epoch: int = 0
    subtopologies: list[Subtopology] = field(default_factory=list)


@dataclass(slots=True)
class StreamsGroupHeartbeatRequest:
    """What is None has not changed."""

    group_id: str = ""
    member_id: str = ""
    member_epoch: int = 0
    endpoint_information_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topology: Topology | None = None
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    process_id: str | None = None
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue] | None = None
    task_offsets: list[TaskOffset] | None = None
    task_end_offsets: list[TaskOffset] | None = None
    shutdown_application: bool = False


@dataclass(slots=True)
class Status:
    status_code: int = 0
    status_detail: str = ""


@dataclass(slots=True)
class TopicPartition:
    topic: str = ""
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class EndpointToPartitions:
    user_endpoint: Endpoint = field(default_factory=Endpoint)
    active_partitions: list[TopicPartition] = field(default_factory=list)
    standby_partitions: list[TopicPartition] = field(default_factory=list)


@dataclass(slots=True)
class StreamsGroupHeartbeatResponse(TopCode):
    """`acceptable_recovery_lag` counts offsets; -1 says that brokers don't have it, which before v1 is 0."""

    error_message: str | None = None
    member_id: str = ""
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    acceptable_recovery_lag: int = -1
    task_offset_interval_ms: int = 0
    status: list[Status] | None = field(default_factory=list)
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    topology_description_required: bool = False  # v1+
    endpoint_information_epoch: int = 0
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = None


def downgrade(answer: StreamsGroupHeartbeatResponse, version: int) -> StreamsGroupHeartbeatResponse:
    return answer if version >= 1 else replace(answer, acceptable_recovery_lag=0)
