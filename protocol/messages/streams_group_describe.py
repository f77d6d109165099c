"""StreamsGroupDescribe: api key 89, v0 and v1 (KIP-1071, KIP-1331, KIP-1357)."""

from dataclasses import dataclass, field

from .common import Throttled
from .of_administrators import Failure
from .places import places
from .streams_groups import Endpoint, KeyValue, TaskIds, TaskOffset, TopicInfo, TopologyDescription


@dataclass(slots=True)
class StreamsGroupDescribeRequest:
    group_ids: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False
    include_topology_description: bool = False  # v1+


@dataclass(slots=True)
class Subtopology:
    subtopology_id: str = ""
    source_topics: list[str] = field(default_factory=list)
    repartition_sink_topics: list[str] = field(default_factory=list)
    state_changelog_topics: list[TopicInfo] = field(default_factory=list)
    repartition_source_topics: list[TopicInfo] = field(default_factory=list)


@dataclass(slots=True)
class Topology:
    epoch: int = 0
    subtopologies: list[Subtopology] | None = None


@dataclass(slots=True)
class Assignment:
    active_tasks: list[TaskIds] = field(default_factory=list)
    standby_tasks: list[TaskIds] = field(default_factory=list)
    warmup_tasks: list[TaskIds] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    member_id: str = ""
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topology_epoch: int = 0
    process_id: str = ""
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue] = field(default_factory=list)
    task_offsets: list[TaskOffset] = field(default_factory=list)
    task_end_offsets: list[TaskOffset] = field(default_factory=list)
    assignment: Assignment = field(default_factory=Assignment)
    target_assignment: Assignment = field(default_factory=Assignment)
    is_classic: bool = False


@dataclass(slots=True)
class DescribedGroup(Failure):
    group_id: str = ""
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    topology: Topology | None = None
    members: list[Member] = field(default_factory=list)
    authorized_operations: int = -2147483648
    topology_description: TopologyDescription | None = None  # v1+
    topology_description_status: int = 0  # v1+
    assignor_name: str | None = None  # v1+


@dataclass(slots=True)
class StreamsGroupDescribeResponse(Throttled):
    groups: list[DescribedGroup] = places("group", "group_ids")
