"""The operations over HTTP: JSON in, JSON out."""

import inspect
import json
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final

import trio
from hypercorn.config import Config
from hypercorn.trio import serve as hypercorn_serve
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..nearest import nearest
from .errors import ConflictError, NotThereError
from .openapi import document
from .registry import Operation
from .stream import Events, since
from .table import OPERATIONS
from .target import Target

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
STATUSES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (NotThereError, 404),
    (ConflictError, 409),
    (ValueError, 400),
)


async def serve(target: Target, sock: socket.socket, *, task_status: trio.TaskStatus[None]) -> None:
    """Answers on `sock`, which is its own from now on, until cancelled."""
    config = Config()
    config.bind = [f"fd://{sock.detach()}"]
    config.loglevel = "ERROR"
    config.include_server_header = False
    async with trio.open_nursery() as nursery:
        await nursery.start(hypercorn_serve, app(target), config)
        task_status.started()


def app(target: Target) -> ASGIApp:
    """The application, for any server."""
    routes = [
        Route(_route(operation), _endpoint(target, operation), methods=[operation.method])
        for operation in OPERATIONS.values()
    ]
    routes.append(Route("/openapi.json", _openapi))
    routes.append(Route("/trace/stream", _trace(target)))
    handlers = {HTTPException: _refused, Exception: _failed}
    return only_from_here(Starlette(routes=routes, exception_handlers=handlers))


def only_from_here(inner: ASGIApp) -> ASGIApp:
    """Refuses what a web page may have sent: under a name of its own for this address, or from its origin."""

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
            host = headers.get(b"host", "")
            origin = headers.get(b"origin")
            if host.removesuffix(f":{host.rpartition(':')[2]}").lower() not in LOOPBACK:
                await _error(403, f"host {host!r} is not this machine")(scope, receive, send)
                return
            if origin is not None and origin != f"http://{host}":
                await _error(403, f"requests of {origin} are not answered")(scope, receive, send)
                return
        await inner(scope, receive, send)

    return guard


def _route(operation: Operation) -> str:
    """Ids of groups and of transactions may have slashes in them."""
    return re.sub(r"{(group|transactional_id)}", r"{\1:path}", operation.path)


def _endpoint(target: Target, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            arguments = {
                **operation.arguments(await _body(request), partial=True),
                **operation.arguments(_query(request), text=True, partial=True),
                **operation.arguments(request.path_params, text=True, partial=True),
            }
            operation.complete(arguments)
            result = target.do(operation.function, **arguments)
            if inspect.isawaitable(result):
                result = await result
        except tuple(kind for kind, _ in STATUSES) as error:
            return _error(next(status for kind, status in STATUSES if isinstance(error, kind)), str(error))
        return JSONResponse(result)

    return endpoint


async def _body(request: Request) -> dict[str, Any]:
    text = await request.body()
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"the body is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("the body is no JSON object: give arguments by name")
    return found


def _query(request: Request) -> dict[str, Any]:
    """Values that are given more than once are a list."""
    query = request.query_params
    return {name: values if len(values := query.getlist(name)) > 1 else values[0] for name in query}


def _trace(target: Target) -> Callable[[Request], Awaitable[ASGIApp]]:
    async def endpoint(request: Request) -> ASGIApp:
        wanted = {name: value for name, value in request.query_params.items() if name != "since"}
        try:
            return Events(target, wanted, since(request))
        except ValueError as error:
            return _error(400, str(error))

    return endpoint


async def _openapi(_: Request) -> Response:
    return JSONResponse(document(OPERATIONS.values()))


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path, method = request.url.path, request.method
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        return _error(405, f"{path} takes no {method}, but {allowed}", error.headers)
    if error.status_code == 404:
        return _error(404, f"nothing at {path}{nearest(path, set(_near(path)))}; GET /openapi.json lists all")
    return _error(error.status_code, error.detail, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    # Hypercorn reports the traceback.
    return _error(500, f"{request.method} {request.url.path} failed: {type(error).__name__}: {error}")


def _near(path: str) -> Iterator[str]:
    """The paths of as many parts, with the path's own values in them."""
    given = path.split("/")
    for operation in OPERATIONS.values():
        parts = operation.path.split("/")
        if len(parts) == len(given):
            filled = (own if "{" in part else part for part, own in zip(parts, given, strict=True))
            yield "/".join(filled)


def _error(status: int, text: str, headers: Any = None) -> JSONResponse:
    return JSONResponse({"error": text}, status, headers)
