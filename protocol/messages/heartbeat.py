"""Heartbeat: api key 12, v0 to v4."""

from dataclasses import dataclass

from .common import Membership


@dataclass(slots=True)
class HeartbeatRequest(Membership):
    pass


@dataclass(slots=True)
class HeartbeatResponse:
    throttle_time_ms: int = 0  # v1+
    error_code: int = 0
