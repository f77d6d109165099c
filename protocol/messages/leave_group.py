"""LeaveGroup: api key 13, v0 to v5."""

from dataclasses import dataclass, field

from .places import places


@dataclass(slots=True)
class MemberIdentity:
    member_id: str = ""  # v3+
    group_instance_id: str | None = None  # v3+
    reason: str | None = None  # v5+


@dataclass(slots=True)
class LeaveGroupRequest:
    group_id: str = ""
    members: list[MemberIdentity] = field(default_factory=list)  # v3+
    member_id: str = ""  # v0-2


@dataclass(slots=True)
class MemberResponse:
    member_id: str = ""  # v3+
    group_instance_id: str | None = None  # v3+
    error_code: int = 0  # v3+


@dataclass(slots=True)
class LeaveGroupResponse:
    throttle_time_ms: int = 0  # v1+
    error_code: int = 0
    members: list[MemberResponse] = places("member", "members", since=3)  # v3+


def upgrade(request: LeaveGroupRequest, version: int) -> LeaveGroupRequest:
    """Up to v2, the only member becomes a list of one (KIP-345)."""
    if version < 3:
        request.members = [MemberIdentity(member_id=request.member_id)]
    return request


def downgrade(response: LeaveGroupResponse, version: int) -> LeaveGroupResponse:
    """Up to v2, the only member's error is at the top."""
    if version < 3 and not response.error_code and response.members:
        response.error_code = response.members[0].error_code
    return response
