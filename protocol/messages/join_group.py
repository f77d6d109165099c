"""JoinGroup: api key 11, v0 to v9."""

from dataclasses import dataclass, field

from .places import places


@dataclass(slots=True)
class JoinGroupRequestProtocol:
    name: str = ""
    metadata: bytes = b""


@dataclass(slots=True)
class JoinGroupRequest:
    group_id: str = ""
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = -1  # v1+
    member_id: str = ""
    group_instance_id: str | None = None  # v5+
    protocol_type: str = ""
    protocols: list[JoinGroupRequestProtocol] = field(default_factory=list)
    reason: str | None = None  # v8+


@dataclass(slots=True)
class JoinGroupResponseMember:
    member_id: str = ""
    group_instance_id: str | None = None  # v5+
    metadata: bytes = b""


@dataclass(slots=True)
class JoinGroupResponse:
    throttle_time_ms: int = 0  # v2+
    error_code: int = 0
    generation_id: int = -1
    protocol_type: str | None = None  # v7+
    protocol_name: str | None = None
    leader: str = ""
    skip_assignment: bool = False  # v9+
    member_id: str = ""
    members: list[JoinGroupResponseMember] = places("member")


def upgrade(request: JoinGroupRequest, version: int) -> JoinGroupRequest:
    """In v0 the session timeout is also the rebalance timeout (KIP-62)."""
    if version < 1:
        request.rebalance_timeout_ms = request.session_timeout_ms
    return request


def downgrade(response: JoinGroupResponse, version: int) -> JoinGroupResponse:
    """An unknown or empty protocol name is empty up to v6, and null since v7 (KIP-559)."""
    name = response.protocol_name or None
    response.protocol_name = name or "" if version < 7 else name
    return response
