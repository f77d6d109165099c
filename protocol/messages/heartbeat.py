"""Heartbeat: api key 12, v0 to v4."""

from dataclasses import dataclass


@dataclass(slots=True)
class HeartbeatRequest:
    group_id: str = ""
    generation_id: int = 0
    member_id: str = ""
    group_instance_id: str | None = None  # v3+


@dataclass(slots=True)
class HeartbeatResponse:
    throttle_time_ms: int = 0  # v1+
    error_code: int = 0
