"""SyncGroup: api key 14, v0 to v5."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class SyncGroupRequestAssignment:
    member_id: str = ""
    assignment: bytes = b""


@dataclass(slots=True)
class SyncGroupRequest:
    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None  # v3+
    protocol_type: str | None = None  # v5+
    protocol_name: str | None = None  # v5+
    assignments: list[SyncGroupRequestAssignment] = field(default_factory=list)


@dataclass(slots=True)
class SyncGroupResponse:
    throttle_time_ms: int = 0  # v1+
    error_code: int = 0
    protocol_type: str | None = None  # v5+
    protocol_name: str | None = None  # v5+
    assignment: bytes = b""
