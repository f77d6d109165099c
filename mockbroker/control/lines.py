"""What the console's page reads of a history, which is no part of the control API: lines of JSON.

`GET /trace/history` has events as they happen: those `since` a number, or with a negative one, from a
keyframe on, about as many as it says. What comes within 100 ms, or up to a second where much happens, is
sent at once; if that is more than a page can read, the events that others supersede are left out. With
`ready`, the answer ends there, so that a slow page slows itself and nobody else: with `ready=0` before
such a summary, with `ready=1` after the one that it begins with. With a negative number and `ready=0` it
begins with a summary of what was there, if that came too fast. The headers `First-Event-ID` and
`Last-Event-ID` are the numbers of the oldest and of the newest event when the answer began. With `first`
and `last` it has those events, and those before `first` up to a keyframe.

`GET /trace/moments` lists numbers and times of some events, and the number of the newest one.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import trio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from .answers import Answer, error_answer
from .history import History
from .stream import FULL, is_full, reading, until_gone
from .target import Target, target_of

T = TypeVar("T")

_PATH: Final = "/trace/history"
_EVERY_S: Final = 0.1
_MANY_S: Final = 0.25
"""The same after a summary: pages draw no more often then, and of more that came at once less is told."""
_APART_S: Final = 0.2
"""Pages get a summary one after the other, so many seconds apart: clients of the cluster would wait while all
of them draw it."""
_MOST_S: Final = 1.0
_SHARE: Final = 0.1
"""How much of the time it may take to make what pages get, as long as they wait no longer than `_MOST_S`."""
MOST: Final = 1_000
"""With more events from one time to the next, there is a summary of them."""
_FAST: Final = 2_500
"""Where so many events come in a second, a page would be behind once it had read the last of them."""
_HEADERS: Final = {"content-type": "application/x-ndjson", "cache-control": "no-store"}


class Beats:
    """When pages get what is new: all at the same times, and up to the same event, so that what is made for
    one is there for all. The more time it takes to make that, the less often they come."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.making = trio.Lock()
        """Of those who have something to make, one does so, and clients of the cluster have turns between."""
        self._at_s = -math.inf
        self._spent_s = 0.0
        self._newest = 0
        self._least_s = _EVERY_S
        self._turns = 0
        """How many pages have got a summary since the last time."""
        self._turn_s = -math.inf

    async def after(self, last: int) -> int:
        """Waits for one with events after this one, of which there is one already: the number of the newest
        event then."""
        while True:
            pause_s = min(max(self._spent_s / _SHARE, self._least_s), _MOST_S)
            if trio.current_time() >= self._at_s + pause_s:
                self.history.catch_up()
                newest = self.history.last
                many = newest - self._newest > MOST
                self._least_s = max(_MANY_S, self._turns * _APART_S) if many else _EVERY_S
                self._turns = 0
                self._at_s, self._spent_s, self._newest = trio.current_time(), 0.0, newest
            elif self._newest > last:
                return self._newest
            else:
                await trio.sleep_until(self._at_s + pause_s)

    async def turn(self) -> None:
        """Waits until it is a page's turn to get a summary."""
        self._turns += 1
        begin_s = max(trio.current_time(), self._turn_s)
        self._turn_s = begin_s + _APART_S
        await trio.sleep_until(begin_s)

    def timed(self, parts: Iterable[T]) -> Iterator[T]:
        """The same parts; how long they take to make counts."""
        began_s = trio.current_time()
        for part in parts:
            self._spent_s += trio.current_time() - began_s
            yield part
            began_s = trio.current_time()


class Following:
    """An answer that goes on until its client leaves, or as `ready` says: what comes after event `last`, or,
    if it is `summed`, after a summary of the state."""

    def __init__(
        self, beats: Beats, last: int, target: Target, ready: int | None = None, *, summed: bool = False
    ) -> None:
        self._beats = beats
        self._history = beats.history
        self._last = last
        self._target = target
        self._ready = ready
        self._summed = summed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        ends = {"first-event-id": str(self._history.first), "last-event-id": str(self._history.last)}
        headers = {**_HEADERS, **ends}
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        with reading(self._target):
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            async with trio.open_nursery() as nursery:
                nursery.start_soon(until_gone, receive, nursery.cancel_scope)
                await self._send(send)
                await send({"type": "http.response.body", "body": b""})
                nursery.cancel_scope.cancel()

    async def _send(self, send: Send) -> None:
        history = self._history
        if self._summed:
            await self._send_summary(history.last, send, whole=True)
        elif not self._ready:
            # What was there before the page came is nothing that it could have read.
            await self._send_lines(history.last, send)
        while True:
            if self._last == history.last:
                await history.came()
            newest = await self._beats.after(self._last)
            if newest - self._last <= MOST:
                await self._send_lines(newest, send)
            elif self._ready == 0:
                return
            else:
                await self._send_summary(newest, send)
                if self._ready:
                    return

    async def _send_lines(self, newest: int, send: Send) -> None:
        """All that came since, up to the newest event."""
        while self._last < newest:
            async with self._beats.making:
                last, parts = self._history.after(self._last)
                data = b"".join(await self._made(parts))
            await send({"type": "http.response.body", "body": data, "more_body": True})
            self._last = last

    async def _send_summary(self, newest: int, send: Send, *, whole: bool = False) -> None:
        async with self._beats.making:
            await self._made(self._history.digest(newest))
            summary = self._history.summary(self._history.begin - 1 if whole else self._last)
            await self._made(summary)
        await self._beats.turn()
        # To send each part costs as much as some lines do.
        data = b"".join(summary)
        await send({"type": "http.response.body", "body": data, "more_body": True})
        self._last = summary.last

    async def _made(self, parts: Iterable[T]) -> list[T]:
        found = []
        for part in self._beats.timed(parts):
            found.append(part)
            await trio.lowlevel.checkpoint()
        return found


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
    beats = Beats(history)

    async def events(request: Request) -> ASGIApp:
        try:
            given = {name: int(value) for name, value in request.query_params.items()}
        except ValueError:
            return error_answer(400, "since, first and last are numbers of events, ready is 0 or 1")
        history.catch_up()
        if "since" not in given:
            found = history.between(given.get("first", 0), given.get("last", history.last))
            return Stretch(found)
        target = target_of(request)
        if is_full(target):
            return error_answer(503, FULL)
        since, ready = given["since"], given.get("ready")
        if since >= 0:
            return Following(beats, since, target, ready)
        since = history.recent(-since) - 1
        summed = ready is not None and history.rate(since) > _FAST and history.last - since > MOST
        return Following(beats, since, target, ready, summed=summed)

    async def moments(_: Request) -> Response:
        history.catch_up()
        return Answer({"moments": history.moments, "last": history.last})

    return [Route(_PATH, events), Route("/trace/moments", moments)]
