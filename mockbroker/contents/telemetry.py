"""Descriptions of the clients that push metrics."""

from typing import TYPE_CHECKING

from ..protocol.primitives import short_uuid
from .values import TelemetryClient

if TYPE_CHECKING:
    from ..cluster.client_telemetry import ClientInstance, ClientTelemetry
    from ..cluster.cluster import Cluster


def telemetry(cluster: "Cluster") -> tuple[TelemetryClient, ...]:
    """Each client that asked a broker what to push, by broker, in the order in which they were last seen."""
    found: list[TelemetryClient] = []
    for broker in cluster.brokers.values():
        # Looking must not begin what no client has used yet.
        known: ClientTelemetry | None = vars(broker).get("telemetry")
        found += [_described(broker.id, each) for each in known.instances] if known is not None else []
    return tuple(found)


def _described(broker: int, instance: "ClientInstance") -> TelemetryClient:
    return TelemetryClient(
        short_uuid(instance.id),
        instance.client_id,
        instance.client.software_name,
        instance.client.software_version,
        broker,
        instance.subscription_id,
        tuple(instance.metrics),
        instance.push_interval_ms,
        instance.pushes,
        instance.pushed_bytes,
        instance.last_push,
        instance.terminating,
    )
