"""The operations over HTTP: JSON in, JSON out."""

import functools
import inspect
import json
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator
from typing import Any, Final
from urllib.parse import unquote

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..errors import ConflictError, NotThereError
from ..nearest import nearest
from . import oauth
from .answers import Answer, error_answer
from .bodies import body, read_to_the_end
from .errors import TooLargeError, TooSlowError
from .guard import guarded
from .openapi import document
from .registry import Operation
from .serving import serve_app
from .stream import MOST_STREAMS, Events, Streams, since
from .table import OPERATIONS
from .target import Target

ErrorHandler = Callable[[Request, Exception], Awaitable[Response]]
MOST_BYTES: Final = 1024 * 1024
"""The largest body that is accepted."""
STATUSES: Final[tuple[tuple[type[Exception], int], ...]] = (
    (NotThereError, 404),
    (ConflictError, 409),
    (TooLargeError, 413),
    (TooSlowError, 408),
    (ValueError, 400),
)


async def serve(
    target: Target,
    sock: socket.socket,
    token: str | None,
    *,
    console: bool = False,
    only: Collection[str] | None = None,
    task_status: trio.TaskStatus[None],
) -> None:
    """Answers on `sock`, which it owns from now on, until cancelled; with a `token`, only requests that send
    it. With `console`, the page is there too; with `only`, no more than these operations and the trace."""
    await serve_app(app(target, token, console=console, only=only), sock, task_status=task_status)


def app(
    target: Target,
    token: str | None = None,
    *,
    console: bool = False,
    only: Collection[str] | None = None,
) -> ASGIApp:
    """The application, for any server."""
    offered = [each for name, each in OPERATIONS.items() if only is None or name in only]
    routes = [
        Route(_route(operation), _endpoint(target, operation), methods=[operation.method])
        for operation in sorted(offered, key=_takes_all)
    ]
    routes.append(Route("/openapi.json", _openapi(offered, whole=only is None)))
    routes.append(Route("/trace/stream", _trace(target)))
    if only is None:
        routes.append(Route(oauth.PATH, oauth.endpoint(target, token), methods=["POST"]))
        routes.append(Route("/metrics", _metrics(target)))
    if console:
        from ..console import files

        routes += files.routes()
    refused: ErrorHandler = functools.partial(_refused, offered)
    handlers = {HTTPException: refused, Exception: _failed}
    routed = _by_sent_path(Starlette(routes=routes, exception_handlers=handlers))
    return read_to_the_end(guarded(routed, token))


def _by_sent_path(inner: ASGIApp) -> ASGIApp:
    """Routes by the path as it was sent, in which `%2F` is a slash within an id, and separates nothing."""

    async def routed(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope.get("raw_path"):
            scope = {**scope, "path": scope["raw_path"].decode("ascii")}
        await inner(scope, receive, send)

    return routed


def _route(operation: Operation) -> str:
    """Ids of groups and of transactions may contain slashes that are not encoded."""
    return re.sub(r"{(group|transactional_id)}", r"{\1:path}", operation.path)


def _takes_all(operation: Operation) -> bool:
    """Whether its path ends with an id, which takes what other paths have after it."""
    return operation.path.endswith("}")


def _endpoint(target: Target, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            arguments = {
                **operation.arguments(await _body(request), partial=True),
                **operation.arguments(_query(request), text=True, partial=True),
                **operation.arguments(_in_path(request), text=True, partial=True),
            }
            operation.complete(arguments)
            result = target.do(operation.function, **arguments)
            if inspect.isawaitable(result):
                result = await result
        except tuple(kind for kind, _ in STATUSES) as error:
            status = next(status for kind, status in STATUSES if isinstance(error, kind))
            return error_answer(status, str(error), field=getattr(error, "field", ""))
        except ClientDisconnect:
            # Nobody reads it.
            return Response(status_code=400)
        return Answer(result)

    return endpoint


async def _body(request: Request) -> dict[str, Any]:
    text = await body(request, MOST_BYTES)
    if not text.strip():
        return {}
    try:
        found = json.loads(text, parse_constant=_no_constant)
        # Half of a surrogate pair is not text, and can't be sent to a client.
        json.dumps(found, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("the body has half of a surrogate pair, which is not text") from None
    except ValueError as error:
        raise ValueError(f"the body is not JSON: {error}") from None
    except RecursionError:
        raise ValueError("the body is nested too deeply") from None
    if not isinstance(found, dict):
        raise ValueError("the body is not a JSON object: give arguments by name")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number in JSON")


def _in_path(request: Request) -> dict[str, str]:
    return {name: unquote(value) for name, value in request.path_params.items()}


def _query(request: Request) -> dict[str, Any]:
    """A value that is given more than once becomes a list."""
    query = request.query_params
    return {name: values if len(values := query.getlist(name)) > 1 else values[0] for name in query}


def _trace(target: Target) -> Callable[[Request], Awaitable[ASGIApp]]:
    streams = Streams()

    async def endpoint(request: Request) -> ASGIApp:
        wanted = {name: value for name, value in request.query_params.items() if name != "since"}
        if streams.full:
            text = f"{MOST_STREAMS} clients are reading the trace already: close one of them"
            return error_answer(503, text)
        try:
            return Events(target, wanted, since(request), streams)
        except ValueError as error:
            return error_answer(400, str(error))

    return endpoint


def _metrics(target: Target) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(_: Request) -> Response:
        # Few clusters are asked.
        from .metrics import CONTENT_TYPE, exposition

        return Response(target.do(exposition), headers={"content-type": CONTENT_TYPE})

    return endpoint


def _openapi(offered: Collection[Operation], *, whole: bool) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(_: Request) -> Response:
        return Answer(document(offered, metrics=whole))

    return endpoint


async def _refused(offered: Collection[Operation], request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    path, method = request.url.path, request.method
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        return error_answer(405, f"{path} does not take {method}: use {allowed}", error.headers)
    if error.status_code == 404:
        suggestion = nearest(path, set(_near(path, offered)))
        return error_answer(404, f"nothing at {path}{suggestion}; GET /openapi.json lists all paths")
    return error_answer(error.status_code, error.detail, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    # Hypercorn reports the traceback.
    return error_answer(500, f"{request.method} {request.url.path} failed: {type(error).__name__}: {error}")


def _near(path: str, offered: Collection[Operation]) -> Iterator[str]:
    """Existing paths with as many parts, filled in with the values of this path."""
    given = path.split("/")
    for operation in offered:
        parts = operation.path.split("/")
        if len(parts) == len(given):
            filled = (own if "{" in part else part for part, own in zip(parts, given, strict=True))
            yield "/".join(filled)
