"""GetTelemetrySubscriptions: api key 71, v0 (KIP-714)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID


@dataclass(slots=True)
class GetTelemetrySubscriptionsRequest:
    client_instance_id: UUID | None = None
    """None for a new client."""


@dataclass(slots=True)
class GetTelemetrySubscriptionsResponse:
    """`delta_temporality` is whether counters are pushed as differences."""

    throttle_time_ms: int = 0
    error_code: int = 0
    client_instance_id: UUID | None = None
    subscription_id: int = 0
    accepted_compression_types: Sequence[int] = ()
    push_interval_ms: int = 0
    telemetry_max_bytes: int = 0
    delta_temporality: bool = False
    requested_metrics: Sequence[str] = ()
