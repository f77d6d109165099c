"""What observers are told, as values that can be written as JSON."""

import traceback
from collections.abc import Callable
from typing import Any

from .observer import ClientConnection, SilentObserver


class Troubles(SilentObserver):
    """Tells of what goes wrong."""

    def __init__(self, tell: Callable[[dict[str, Any]], None]) -> None:
        self._tell = tell

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        self._of(connection, "refused", reason=reason)

    def mismatched(self, connection: ClientConnection, why: str) -> None:
        self._of(connection, "mismatched", reason=why)

    def failed(self, connection: ClientConnection | None, error: Exception) -> None:
        self._of(connection, "failed", reason=str(error), traceback=_traceback(error))

    def policy_failed(self, error: Exception) -> None:
        self._tell({"event": "policy failed", "reason": str(error), "traceback": _traceback(error)})

    def full(self, reason: str) -> None:
        self._tell({"event": "full", "reason": reason})

    def _of(self, connection: ClientConnection | None, event: str, **values: Any) -> None:
        """An event of a connection, if there is one."""
        address, broker = (connection.name, connection.broker.id) if connection else (None, None)
        self._tell({"event": event, "address": address, "broker": broker, **values})


def _traceback(error: Exception) -> str:
    return "".join(traceback.format_exception(error))
