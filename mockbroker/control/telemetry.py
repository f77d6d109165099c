"""Operations that look at the metrics that clients push."""

from typing import TypedDict

from ..contents import telemetry as contents
from ..contents.values import TelemetryClient
from .registry import operation
from .shaping import shaped
from .target import Target


class TelemetryState(TypedDict):
    """A client on one broker. `requested_metrics` are prefixes of names, `*` for all; `pushed_bytes` is the
    size of its pushes, compressed; `terminating` is whether it said that its last push was the last one."""

    client_instance_id: str
    client_id: str
    software_name: str
    software_version: str
    broker: int
    subscription_id: int
    requested_metrics: list[str]
    push_interval_ms: int
    pushes: int
    pushed_bytes: int
    terminating: bool


@operation("telemetry list", "GET", "/telemetry")
def list_telemetry(target: Target) -> list[TelemetryState]:
    """Lists the clients that push metrics: what they were asked for, and how much has come."""
    return [shaped(TelemetryState, each) for each in telemetry(target)]


def telemetry(target: Target) -> tuple[TelemetryClient, ...]:
    return contents.telemetry(target.cluster)
