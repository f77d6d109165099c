"""DescribeGroups: api key 15, v0 to v6."""

from dataclasses import dataclass, field

from .places import places


@dataclass(slots=True)
class DescribeGroupsRequest:
    groups: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False  # v3+


@dataclass(slots=True)
class DescribedGroupMember:
    member_id: str = ""
    group_instance_id: str | None = None  # v4+
    client_id: str = ""
    client_host: str = ""
    member_metadata: bytes = b""
    member_assignment: bytes = b""


@dataclass(slots=True)
class DescribedGroup:
    error_code: int = 0
    error_message: str | None = None  # v6+
    group_id: str = ""
    group_state: str = ""
    protocol_type: str = ""
    protocol_data: str = ""
    members: list[DescribedGroupMember] = places("member")
    authorized_operations: int = -2147483648  # v3+


@dataclass(slots=True)
class DescribeGroupsResponse:
    throttle_time_ms: int = 0  # v1+
    groups: list[DescribedGroup] = places("group", "groups")
