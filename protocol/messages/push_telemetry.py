"""PushTelemetry: api key 72, v0 (KIP-714)."""

from dataclasses import dataclass
from uuid import UUID

from .common import TopCode


@dataclass(slots=True)
class PushTelemetryRequest:
    """`metrics` are an OpenTelemetry `MetricsData`, compressed."""

    client_instance_id: UUID | None = None
    subscription_id: int = 0
    terminating: bool = False
    compression_type: int = 0
    metrics: bytes = b""


@dataclass(slots=True)
class PushTelemetryResponse(TopCode):
    pass
