"""Answers in which brokers have other addresses."""

from collections.abc import Callable
from typing import Any, Final

from .messages import UNREADABLE, changed, read_answer, write_answer

Move = Callable[[int | None, str, int], tuple[str, int] | None]
"""Where a broker is now, by its id (None if the answer does not say) and its host and port; None: there."""

_NAMING: Final = frozenset(
    {
        "metadata",
        "find_coordinator",
        "describe_cluster",
        "produce",
        "fetch",
        "share_fetch",
        "share_acknowledge",
    }
)
"""Whose answers have addresses, in some version (KIP-951 for produce and fetch)."""


def moved(api: str, version: int, answer: bytes, move: Move) -> bytes:
    """The answer with other addresses; as it is if it has none, or can't be read."""
    if api not in _NAMING:
        return answer
    try:
        body = read_answer(api, version, answer)
    except UNREADABLE:
        return answer

    def change(owner: Any, name: str, value: Any) -> Any:
        if name not in ("host", "port") or not getattr(owner, "host", ""):
            return value
        node = getattr(owner, "node_id", getattr(owner, "broker_id", None))
        found = move(node, owner.host, owner.port)
        if found is None or found == (owner.host, owner.port):
            return value
        return found[name == "port"]

    new = changed(body, change)
    return answer if new is body else write_answer(api, version, answer, new)
