"""ConsumerGroupDescribe: api key 69, v0 and v1 (KIP-848)."""

import uuid
from dataclasses import dataclass, field

from .common import Throttled
from .places import places


@dataclass(slots=True)
class ConsumerGroupDescribeRequest:
    group_ids: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False


@dataclass(slots=True)
class ConsumerGroupDescribeTopicPartitions:
    topic_id: uuid.UUID | None = None
    topic_name: str = ""
    partitions: list[int] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupDescribeAssignment:
    topic_partitions: list[ConsumerGroupDescribeTopicPartitions] = field(default_factory=list)


@dataclass(slots=True)
class ConsumerGroupDescribeMember:
    member_id: str = ""
    instance_id: str | None = None
    rack_id: str | None = None
    member_epoch: int = 0
    client_id: str = ""
    client_host: str = ""
    subscribed_topic_names: list[str] = field(default_factory=list)
    subscribed_topic_regex: str | None = None
    assignment: ConsumerGroupDescribeAssignment = field(default_factory=ConsumerGroupDescribeAssignment)
    target_assignment: ConsumerGroupDescribeAssignment = field(
        default_factory=ConsumerGroupDescribeAssignment
    )
    member_type: int = -1  # v1+


@dataclass(slots=True)
class ConsumerGroupDescribedGroup:
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ""
    group_state: str = ""
    group_epoch: int = 0
    assignment_epoch: int = 0
    assignor_name: str = ""
    members: list[ConsumerGroupDescribeMember] = places("member")
    authorized_operations: int = -2147483648


@dataclass(slots=True)
class ConsumerGroupDescribeResponse(Throttled):
    groups: list[ConsumerGroupDescribedGroup] = places("group", "group_ids")
