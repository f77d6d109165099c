"""Instances of clients that push metrics, and their subscriptions (KIP-714)."""

import uuid
from typing import Any

from ..subscriptions import shown

_SPACE = uuid.UUID("6f0ce5c4-7c8b-4f1e-9a55-5e2a1f6fd0f1")


class TelemetryBindings:
    """Instances and subscription ids by the number that a step binds."""

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._told: dict[int, tuple[uuid.UUID, int]] = {}

    def instance(self, slot: int) -> uuid.UUID:
        """As the broker named it, else one that no other sequence has."""
        return self._told[slot][0] if slot in self._told else self._own(slot)

    def _own(self, slot: int) -> uuid.UUID:
        return uuid.uuid5(_SPACE, f"{self._suffix} {slot}")

    def subscription_id(self, slot: int, flipped: int) -> int:
        return self._told.get(slot, (None, 0))[1] ^ flipped

    def learn(self, slot: int, answer: dict[str, Any]) -> None:
        """From an answer to GetTelemetrySubscriptions."""
        if answer.get("error_code") == "NONE":
            self._told[slot] = answer["client_instance_id"], answer["subscription_id"]

    def shown(self, answer: Any) -> Any:
        """Without what the broker drew."""
        known = {instance: f"<{slot}>" for slot, (instance, _) in self._told.items()}
        known |= {self._own(slot): f"<{slot}, given>" for slot in range(100)}
        return shown(answer, known)
