"""What the console's page reads of a history, which is no part of the control API: lines of JSON.

`GET /trace/history` has events as they happen: those `since` a number, or with a negative one, from a
keyframe on, about as many as it says. What comes within 100 ms is sent at once; if that is more than a page
can read, the events that others supersede are left out. The headers `First-Event-ID`
and `Last-Event-ID` are the numbers of the oldest and of the newest event when the answer began. With `first`
and `last` it has those events, and those before `first` up to a keyframe.

`GET /trace/moments` lists numbers and times of some events, and the number of the newest one.
"""

from collections.abc import Iterator
from typing import Final

import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .answers import Answer, error_answer
from .history import History
from .stream import FULL, is_full, reading, until_gone
from .target import Target, target_of

_PATH: Final = "/trace/history"
_EVERY_S: Final = 0.1
MOST: Final = 1_000
"""With more events in that time, there is a summary of them."""
_HEADERS: Final = {"content-type": "application/x-ndjson", "cache-control": "no-store"}


class Following:
    """An answer that goes on until its client leaves: what comes after event `last`."""

    def __init__(self, history: History, last: int, target: Target) -> None:
        self._history = history
        self._last = last
        self._target = target

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ends = {"first-event-id": str(self._history.first), "last-event-id": str(self._history.last)}
        headers = {**_HEADERS, **ends}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        with reading(self._target):
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_gone, receive, nursery.cancel_scope)
                await self._send(send)

    async def _send(self, send: Send) -> None:
        history, newest = self._history, self._history.last
        while True:
            while self._last < newest:
                self._last, data = history.after(self._last)
                await send({"type": "http.response.body", "body": data, "more_body": True})
            if self._last == history.last:
                await history.came()
            # All pages at the same times, so that one summary is for all.
            await trio.sleep_until((trio.current_time() // _EVERY_S + 1) * _EVERY_S)
            history.catch_up()
            newest = history.last
            if newest - self._last > MOST:
                self._last, data = history.summary(self._last)
                await send({"type": "http.response.body", "body": data, "more_body": True})


class Stretch:
    """An answer with these parts. Starlette's would wait for the client's end while the rest of its body is
    read (`read_to_the_end`), and then neither goes on."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        for each in self._parts:
            await send({"type": "http.response.body", "body": each, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def routes(history: History) -> list[Route]:
    async def events(request: Request) -> ASGIApp:
        try:
            given = {name: int(value) for name, value in request.query_params.items()}
        except ValueError:
            return error_answer(400, "since, first and last are numbers of events")
        history.catch_up()
        if "since" not in given:
            found = history.between(given.get("first", 0), given.get("last", history.last))
            return Stretch(found)
        target = target_of(request)
        if is_full(target):
            return error_answer(503, FULL)
        since = given["since"]
        if since < 0:
            since = history.keyframe(max(history.last + since, 1)) - 1
        return Following(history, since, target)

    async def moments(_: Request) -> Response:
        history.catch_up()
        return Answer({"moments": history.moments, "last": history.last})

    return [Route(_PATH, events), Route("/trace/moments", moments)]
