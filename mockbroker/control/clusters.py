"""`/clusters`: clusters that are lent, such as one for each test.

The answer to `POST /clusters` goes on for as long as the cluster is there: JSON, one object in each line, of
which the first says where it is, and the others what went wrong in it. It ends when the connection of that
request closes, or by `DELETE`. Below `/clusters/ID` is a control API like the one around it, for that cluster
alone.
"""

import contextlib
import functools
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

import trio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..nearest import nearest
from .answers import Answer, error_answer, refusal
from .bodies import json_object
from .registry import Operation
from .stream import until_gone
from .target import IN_SCOPE, Target

MOST: Final = 500
"""How many clusters are lent at once."""
MOST_BROKERS: Final = 100
"""Of one of them."""
MOST_PARTITIONS: Final = 1_000
"""Of the topics with which one of them starts, all together."""
MOST_LINES: Final = 100
"""How many lines tell of troubles: who holds a cluster may never read them."""
_EVERY_S: Final = 60
"""There are HTTP clients that give up an answer in which nothing comes for some minutes."""

Tell = Callable[[dict[str, Any]], None]
Start = Callable[[Mapping[str, Any], str, Tell], contextlib.AbstractAsyncContextManager[Target]]
"""Starts a cluster, given its options, the URL of its control API, and what it tells of troubles. ValueError,
ImportError, OSError."""


def _read(
    _: Target,
    kafka: Annotated[str | None, "Release to act as."] = None,
    brokers: Annotated[int | None, "How many brokers; 3 by default."] = None,
    topics: Annotated[dict[str, int] | None, "Topics, each with its number of partitions."] = None,
    config: Annotated[dict[str, str] | None, "Configuration of all brokers."] = None,
    policies: Annotated[dict[str, str] | None, "Answers of behaviours."] = None,
    fixed: Annotated[bool | None, "Whether every fix is applied that was made or proposed."] = None,
    faults: Annotated[list[dict[str, Any]] | None, "Faults that are there from the start."] = None,
    racks: Annotated[dict[str, str] | None, "Racks, by the id of a broker."] = None,
    seed: Annotated[int | None, "The same seed gives the same ids."] = None,
    clock: Annotated[Literal["wall", "manual"] | None, "What moves the cluster's time."] = None,
    now: Annotated[str | int | None, "The time at which it starts."] = None,
    trace: Annotated[
        bool | Literal["requests"] | None,
        "Whether it keeps what happens from the start; with `requests`, it keeps no bodies of them.",
    ] = None,
    security: Annotated[dict[str, Any] | None, "Listeners, TLS, logins and ACLs."] = None,
) -> dict[str, Any]:
    """Starts a cluster of its own, which is there until the connection of this request closes."""
    given = {
        "kafka": kafka,
        "brokers": brokers,
        "topics": topics,
        "config": config,
        "policies": policies,
        "fixed": fixed,
        "faults": faults,
        "racks": _racks(racks),
        "seed": seed,
        "clock": clock,
        "now": now,
        "trace": trace,
        "security": security,
    }
    _check(brokers or 0, "brokers", MOST_BROKERS)
    _check(sum((topics or {}).values()), "partitions", MOST_PARTITIONS)
    return {name: value for name, value in given.items() if value is not None}


CREATE: Final = Operation("clusters create", "POST", "/clusters", _read)
"""It is not in the table: what is there is done to a cluster, and answers at once."""


@dataclass(eq=False)
class _Lent:
    """A cluster that somebody holds."""

    id: str
    where: dict[str, Any]
    target: Target
    ends: trio.CancelScope = field(default_factory=trio.CancelScope)
    ended: trio.Event = field(default_factory=trio.Event)


class Clusters:
    """Those that are lent now. `app` is the control API of each, which finds it in the scope."""

    def __init__(self, start: Start, app: ASGIApp) -> None:
        self._start = start
        self._app = app
        self._ids = itertools.count(1)
        self._lent: dict[str, _Lent] = {}
        self._count = 0

    def routes(self) -> list[Route]:
        methods = ["GET", "POST", "PUT", "DELETE"]
        return [
            Route("/clusters", self._either, methods=["GET", "POST"]),
            Route("/clusters/{id}", self._delete, methods=["DELETE"]),
            Route("/clusters/{id}/{path:path}", self._within, methods=methods),
        ]

    async def _either(self, request: Request) -> ASGIApp:
        if request.method != "POST":
            return Answer([each.where for each in self._lent.values()])
        try:
            given = CREATE.function(None, **CREATE.arguments(await json_object(request)))
        except ValueError as error:
            return refusal(error)
        except ClientDisconnect:
            return Response(status_code=400)
        if self._count >= MOST:
            return error_answer(503, f"{MOST} clusters are lent already: close the connection of one of them")
        return functools.partial(self._lend, given, request.headers["host"])

    async def _delete(self, request: Request) -> ASGIApp:
        found = self._find(request)
        if not isinstance(found, _Lent):
            return found
        found.ends.cancel()
        await found.ended.wait()
        return Answer(found.where)

    async def _within(self, request: Request) -> ASGIApp:
        found = self._find(request)
        if not isinstance(found, _Lent):
            return found
        path = "/" + request.path_params["path"]
        own = {"path": path, "raw_path": path.encode("ascii"), "path_params": {}, IN_SCOPE: found.target}

        async def forward(scope: Scope, receive: Receive, send: Send) -> None:
            await self._app({**scope, **own}, receive, send)

        return forward

    def _find(self, request: Request) -> _Lent | Answer:
        wanted = request.path_params["id"]
        if wanted in self._lent:
            return self._lent[wanted]
        gone = "a cluster is gone once the connection that asked for it has closed"
        return error_answer(404, f"no cluster {wanted!r}{nearest(wanted, self._lent)}; {gone}")

    async def _lend(
        self, given: Mapping[str, Any], host: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        id_ = str(next(self._ids))
        url = f"http://{host}/clusters/{id_}"
        into, lines = trio.open_memory_channel[bytes](MOST_LINES)
        async with contextlib.AsyncExitStack() as stack:
            self._count += 1
            stack.callback(self._forget, id_)
            stack.enter_context(into)
            stack.enter_context(lines)
            try:
                target = await stack.enter_async_context(self._start(given, url, _tell(into)))
            except (ValueError, ImportError) as error:
                answer = error_answer(400, str(error), field=getattr(error, "field", ""))
                await answer(scope, receive, send)
                return
            except OSError as error:
                text = f"no cluster can be started now: {error.strerror or error}"
                await error_answer(503, text)(scope, receive, send)
                return
            lent = self._lent[id_] = _Lent(id_, _where(id_, url, target), target)
            await _hold(lent, lines, receive, send)
        if lent.ends.cancel_called:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _forget(self, id_: str) -> None:
        """Once it has ended, or did not start."""
        self._count -= 1
        if (gone := self._lent.pop(id_, None)) is not None:
            gone.ended.set()


async def _hold(lent: _Lent, lines: trio.MemoryReceiveChannel[bytes], receive: Receive, send: Send) -> None:
    """Until it is deleted, or the client is gone."""
    with lent.ends:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(until_gone, receive, nursery.cancel_scope)
            headers = [(b"content-type", b"application/jsonl"), (b"cache-control", b"no-store")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await _send(send, _line({"event": "serving", **lent.where}))
            async for line in _with_pauses(lines):
                await _send(send, line)


def _racks(given: Mapping[str, str] | None) -> dict[int, str] | None:
    """Names in JSON are text. ValueError."""
    if given is None:
        return None
    for broker in given:
        if not (broker.isascii() and broker.isdecimal()):
            raise ValueError(f"racks has a broker {broker!r}: give the id of one, a number")
    return {int(broker): rack for broker, rack in given.items()}


def _check(count: int, what: str, most: int) -> None:
    if count > most:
        raise ValueError(f"{count} {what}: a cluster that is lent starts with {most} at most")


def _where(id_: str, url: str, target: Target) -> dict[str, Any]:
    cluster = target.cluster
    return {
        "id": id_,
        "bootstrap_servers": target.bootstrap_servers,
        "control_url": url,
        "kafka": str(cluster.release),
        "brokers": len(cluster.brokers),
        "cluster_id": cluster.cluster_id,
    }


def _tell(into: trio.MemorySendChannel[bytes]) -> Tell:
    """Adds a line, unless there were MOST_LINES."""
    left = MOST_LINES

    def tell(event: dict[str, Any]) -> None:
        nonlocal left
        if left:
            left -= 1
            into.send_nowait(_line(event))

    return tell


async def _with_pauses(lines: trio.MemoryReceiveChannel[bytes]) -> AsyncIterator[bytes]:
    while True:
        line = _line({"event": "alive"})
        with trio.move_on_after(_EVERY_S):
            line = await lines.receive()
        yield line


def _line(event: Mapping[str, Any]) -> bytes:
    return json.dumps(event).encode() + b"\n"


async def _send(send: Callable[[Any], Awaitable[None]], text: bytes) -> None:
    await send({"type": "http.response.body", "body": text, "more_body": True})
