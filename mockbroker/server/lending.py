"""Clusters that are lent over HTTP: see `control.clusters`."""

import contextlib
import traceback
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from .observer import ClientConnection, SilentObserver

if TYPE_CHECKING:
    from ..control.clusters import Tell
    from ..control.target import Target


class Served(Protocol):
    """What is needed of a `ServedCluster`."""

    control_url: str | None
    control_token: str | None

    @property
    def target(self) -> "Target": ...


Serve = Callable[..., contextlib.AbstractAsyncContextManager[Served]]


_NOTHING: Final[Mapping[str, str]] = {}


@contextlib.asynccontextmanager
async def lend(
    serve: Serve, token: str | None, given: Mapping[str, Any], control_url: str, tell: "Tell"
) -> "AsyncIterator[Target]":
    """Serves a cluster whose control API others serve at `control_url`, for those with the `token`."""
    async with serve(observer=_Teller(tell), **given) as served:
        served.control_url, served.control_token = control_url, token
        yield served.target


class _Teller(SilentObserver):
    """Tells whoever holds a cluster of troubles, as `mockbroker serve --log json` does."""

    def __init__(self, tell: "Tell") -> None:
        self._tell = tell

    def malformed(self, connection: ClientConnection, reason: str) -> None:
        self._of(connection, "refused", reason)

    def mismatched(self, connection: ClientConnection, why: str) -> None:
        self._of(connection, "mismatched", why)

    def failed(self, connection: ClientConnection | None, error: Exception) -> None:
        self._of(connection, "failed", str(error), _traceback(error))

    def policy_failed(self, error: Exception) -> None:
        self._tell({"event": "policy failed", "reason": str(error), **_traceback(error)})

    def full(self, reason: str) -> None:
        self._tell({"event": "full", "reason": reason})

    def _of(
        self,
        connection: ClientConnection | None,
        event: str,
        reason: str,
        more: Mapping[str, str] = _NOTHING,
    ) -> None:
        address, broker = (connection.name, connection.broker.id) if connection else (None, None)
        self._tell({"event": event, "address": address, "broker": broker, "reason": reason, **more})


def _traceback(error: Exception) -> dict[str, str]:
    return {"traceback": "".join(traceback.format_exception(error))}
