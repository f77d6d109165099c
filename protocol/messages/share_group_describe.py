"""ShareGroupDescribe: api key 77, v1 (KIP-932)."""

from dataclasses import dataclass, field
from uuid import UUID

from .common import Throttled
from .of_administrators import Failure
from .places import places


@dataclass(slots=True)
class ShareGroupDescribeRequest:
    group_ids: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False


@dataclass(slots=True)
class TopicPartitions:
    topic_id: UUID | None = None
    topic_name: str = ""
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Assignment:
    topic_partitions: list[TopicPartitions] = field(default_factory=list)


@dataclass(slots=True)
class Member:
    member_id: str = ""
    rack_id: str | None = None
    member_epoch: int = 0
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = field(default_factory=list)
    assignment: Assignment = field(default_factory=Assignment)


@dataclass(slots=True)
class DescribedGroup(Failure):
    group_id: str = ""
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: list[Member] = field(default_factory=list)
    authorized_operations: int = -2147483648


@dataclass(slots=True)
class ShareGroupDescribeResponse(Throttled):
    groups: list[DescribedGroup] = places("group", "group_ids")
