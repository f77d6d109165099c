"""The trace as server-sent events: one `data:` line of JSON for each event, its number as the id. Events with
details, such as keyframes, come only with `details=true`.

A client that comes back with `Last-Event-ID` gets the events that it missed, as far as they are still kept,
and so does one that reads slowly. If some are not kept any more, it gets an event `missed` with their first
and last number: `{"from": 7, "to": 9}`. The header `Last-Event-ID` of the answer is the number of the newest
event when the stream began, by which a client knows when it is up to date.
"""

import contextlib
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import trio
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from ..trace.as_json import as_json
from ..trace.events import DETAILS
from ..trace.finding import check, fits

if TYPE_CHECKING:
    from ..trace import Event
    from .target import Target

MOST_STREAMS: Final = 64
"""How many clients may read the trace at once."""
FULL: Final = f"{MOST_STREAMS} clients are reading the trace already: close one of them"


def is_full(target: "Target") -> bool:
    return target.trace_readers >= MOST_STREAMS


@contextlib.contextmanager
def reading(target: "Target") -> Iterator[None]:
    """Counts one more that reads the trace within the block."""
    target.trace_readers += 1
    try:
        yield
    finally:
        target.trace_readers -= 1


class Events:
    """An answer that goes on until its client leaves: the events of the wanted kind with the wanted values.
    It begins with those after number `since`, if that is not negative; then each event is sent as it happens.

    Events are read from the trace, which keeps the last ones, so a slow client takes no memory. ValueError
    for an unknown kind or field.
    """

    def __init__(self, target: "Target", wanted: dict[str, str], since: int) -> None:
        self._values: dict[str, Any] = dict(wanted)
        self._details = self._values.pop("details", "false") == "true"
        self._kind = self._values.pop("kind", None)
        check(self._kind, self._values)
        self._target = target
        self._since = since
        self._came = trio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        target = self._target
        target.watch()
        events = target.trace.events
        newest = events[-1].number if events else 0
        last = newest if self._since < 0 else self._since
        target.trace.listeners.append(self._wake)
        try:
            with reading(target):
                await self._stream(receive, send, newest, last)
        finally:
            target.trace.listeners.remove(self._wake)

    async def _stream(self, receive: Receive, send: Send, newest: int, last: int) -> None:
        headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"last-event-id", str(newest).encode()),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send(send, ": the trace\n\n")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(until_gone, receive, nursery.cancel_scope)
            while True:
                self._came = trio.Event()
                last = await self._tell_after(last, send)
                await self._came.wait()

    def _wake(self, _: "Event") -> None:
        self._came.set()

    async def _tell_after(self, last: int, send: Send) -> int:
        """Sends events with a number higher than `last`, including those that happen meanwhile; returns the
        last number."""
        events = self._target.trace.events
        while events and events[-1].number > last:
            new = []
            for event in reversed(events):
                if event.number <= last:
                    break
                new.append(event)
            if new[-1].number > last + 1:
                missed = json.dumps({"from": last + 1, "to": new[-1].number - 1})
                await self._send(send, f"event: missed\ndata: {missed}\n\n")
            for event in reversed(new):
                if self._wants(event):
                    head = f"id: {event.number}\nevent: {event.kind}"
                    await self._send(send, f"{head}\ndata: {as_json(event)}\n\n")
            last = new[0].number
        return last

    def _wants(self, event: "Event") -> bool:
        if self._details and event.kind in DETAILS:
            return not self._values and self._kind in (None, event.kind)
        return fits(event, self._kind, self._values)

    async def _send(self, send: Send, text: str) -> None:
        await send({"type": "http.response.body", "body": text.encode(), "more_body": True})


async def until_gone(receive: Receive, scope: trio.CancelScope) -> None:
    """Cancels `scope` once the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
    scope.cancel()


def since(request: Request) -> int:
    """The number of the last event that the client has; -1 if it only wants future ones. ValueError."""
    text = request.headers.get("last-event-id") or request.query_params.get("since") or "-1"
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"since is {text!r:.50}: give the number of an event") from None
