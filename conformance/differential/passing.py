"""Answers without what brokers draw for themselves, and without what passes."""

from collections.abc import Sequence
from typing import Any

from .. import quorums
from .binding import Bindings


def without_passing(answer: Any, api: str, bound: Bindings, nodes: Sequence[int]) -> Any:
    """Of delegation tokens, instances that push metrics, and the quorum, whose brokers are `nodes`."""
    if not isinstance(answer, dict) or "unreadable" in answer:
        return answer
    if api == "describe_quorum":
        return quorums.shown(answer, nodes.index, bound.now_ms)
    if api == "get_telemetry_subscriptions":
        return bound.telemetry.shown(answer)
    if api.endswith("_delegation_token"):
        return bound.tokens.shown(answer, bound.now_ms)
    return answer
