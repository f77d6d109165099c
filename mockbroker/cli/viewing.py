"""`mockbroker view`: the page with what a file tells, served on loopback until it is interrupted."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ..console.files import PATH, routes
from ..control.guard import guarded
from ..control.serving import serve_app
from ..processes import ending_signals
from ..server.listening import listen
from ..trace.files import check_schema, read_json_lines

_TRACE: Final = "/trace.jsonl"
_REPORT: Final = "/incidents.json"
Report = Mapping[str, Any]
"""An `incidents.json`; `shown` is the name of the trace in it."""


def app(trace: Path, report: Report | None = None) -> ASGIApp:
    """The application: the page, and what it reads."""

    async def start(_: Request) -> Response:
        beside = "" if report is None else f"&incidents={_REPORT}"
        return RedirectResponse(f"{PATH}?file={_TRACE}{beside}")

    async def incidents(_: Request) -> Response:
        return JSONResponse(report)

    async def file(_: Request) -> Response:
        return FileResponse(trace, media_type="application/x-ndjson")

    served = [Route("/", start), Route(_TRACE, file), *routes()]
    if report is not None:
        served.append(Route(_REPORT, incidents))
    return guarded(Starlette(routes=served), None)


def view(trace: Path, report: Report | None, port: int, ready: Callable[[str], None]) -> None:
    """Serves until a signal ends it; calls `ready` with the address. OSError; TraceError for a file that is
    not a trace; PortInUseError."""
    with trace.open() as file:
        check_schema(trace, file.readline(1 << 10))
    trio.run(_main, trace, report, port, ready)


def event_at(trace: Path, at_ms: int) -> int:
    """The number of the last event that had happened at a time, else of the first one; 0 if there are none.
    TraceError, OSError."""
    number = 0
    for event in read_json_lines(trace):
        if number and event.time_ms > at_ms:
            break
        number = event.number
    return number


async def _main(trace: Path, report: Report | None, port: int, ready: Callable[[str], None]) -> None:
    sock = listen("127.0.0.1", port)
    address = "http://{}:{}/".format(*sock.getsockname())
    with trio.open_signal_receiver(*ending_signals()) as signals:
        async with trio.open_nursery() as nursery:
            await nursery.start(serve_app, app(trace, report), sock)
            ready(address)
            async for _ in signals:
                nursery.cancel_scope.cancel()
                return
