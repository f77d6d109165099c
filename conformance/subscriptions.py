"""Answers to GetTelemetrySubscriptions without what brokers draw (KIP-714)."""

import uuid
from collections.abc import Mapping
from typing import Any, Final

NEW: Final = uuid.UUID(int=0)


def _java_hash(client: uuid.UUID) -> int:
    high, low = client.int >> 64, client.int & (1 << 64) - 1
    return (high ^ low) >> 32 ^ (high ^ low) & 0xFFFFFFFF


def shown(answer: Any, known: Mapping[uuid.UUID, str]) -> Any:
    """With the names of `known` instances; the subscription's id depends on the client's, which is random."""
    if isinstance(answer, str):
        return answer
    client = answer["client_instance_id"] or NEW
    plain = (answer["subscription_id"] & 0xFFFFFFFF) ^ _java_hash(client)
    named = "none" if client == NEW else known.get(client, "new")
    metrics = sorted(answer["requested_metrics"])
    return {**answer, "client_instance_id": named, "subscription_id": plain, "requested_metrics": metrics}
