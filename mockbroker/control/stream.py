"""The trace as server-sent events: one `data:` line of JSON for each event, its number as the id.

A client that comes back with `Last-Event-ID` gets what it missed, as far as it is kept.
"""

import json
import math
from typing import TYPE_CHECKING, Any

import trio
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ..trace.trace import check, fits

if TYPE_CHECKING:
    from ..trace import Event
    from .target import Target


class Events:
    """An answer that goes on until its client leaves: the events of the wanted kind and values, those after
    number `since` first, if it is not negative, and then as they come.

    ValueError for a kind or a field that there is not.
    """

    def __init__(self, target: "Target", wanted: dict[str, str], since: int) -> None:
        self._values: dict[str, Any] = dict(wanted)
        self._kind = self._values.pop("kind", None)
        check(self._kind, self._values)
        self._target = target
        self._since = since

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        target, (tell, events) = self._target, trio.open_memory_channel["Event"](math.inf)
        target.watch()
        missed = list(target.trace.events) if self._since >= 0 else []
        target.trace.listeners.append(tell.send_nowait)
        try:
            headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._send(send, ": the trace\n\n")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_until_gone, receive, nursery.cancel_scope)
                for event in missed:
                    if event.number > self._since:
                        await self._tell(send, event)
                async for event in events:
                    await self._tell(send, event)
        finally:
            target.trace.listeners.remove(tell.send_nowait)

    async def _tell(self, send: Send, event: "Event") -> None:
        if fits(event, self._kind, self._values):
            row = json.dumps(event.row(), separators=(",", ":"))
            await self._send(send, f"id: {event.number}\nevent: {event.kind}\ndata: {row}\n\n")

    async def _send(self, send: Send, text: str) -> None:
        await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


async def _until_gone(receive: Receive, scope: trio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def since(request: Request) -> int:
    """The number of the last event that the client knows; -1 for none but those to come. ValueError."""
    text = request.headers.get("last-event-id") or request.query_params.get("since") or "-1"
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"since is {text!r}: give the number of an event") from None
