"""Clusters that are lent over HTTP: see `control.clusters`."""

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from .troubles import Troubles

if TYPE_CHECKING:
    from ..control.clusters import Tell
    from ..control.target import Target
    from .pump import Pump


class Served(Protocol):
    """What is needed of a `ServedCluster`."""

    control_url: str | None
    control_token: str | None

    pump: "Pump"

    @property
    def target(self) -> "Target": ...


Serve = Callable[..., contextlib.AbstractAsyncContextManager[Served]]


@contextlib.asynccontextmanager
async def lend(
    serve: Serve, token: str | None, given: Mapping[str, Any], control_url: str, tell: "Tell"
) -> "AsyncIterator[Target]":
    """Serves a cluster whose control API others serve at `control_url`, for those with the `token`. Whoever
    holds it is told of troubles, as by `mockbroker serve --log json`."""
    async with serve(observer=Troubles(tell), **given) as served:
        served.pump.be_eager()
        served.control_url, served.control_token = control_url, token
        yield served.target
