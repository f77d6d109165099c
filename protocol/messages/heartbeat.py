"""Heartbeat: api key 12, v0 to v4."""

from dataclasses import dataclass

from .common import MemberInGeneration


@dataclass(slots=True)
class HeartbeatRequest(MemberInGeneration):
    pass


@dataclass(slots=True)
class HeartbeatResponse:
    throttle_time_ms: int = 0  # v1+
    error_code: int = 0
