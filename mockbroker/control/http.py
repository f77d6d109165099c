"""The operations over HTTP: JSON in, JSON out."""

import contextlib
import functools
import inspect
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import trio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ..nearest import nearest
from . import oauth
from .answers import REFUSALS, Answer, error_answer, refusal
from .bodies import json_object, read_to_the_end
from .clusters import Clusters, Start
from .guard import guarded
from .openapi import document
from .registry import Operation
from .serving import serve_app
from .stream import FULL, Events, is_full, since
from .table import OPERATIONS
from .target import IN_SCOPE, Target, target_of

if TYPE_CHECKING:
    from .history import History

ErrorHandler = Callable[[Request, Exception], Awaitable[Response]]


async def serve(
    target: Target,
    sock: socket.socket,
    token: str | None,
    *,
    console: bool = False,
    lend: Start | None = None,
    only: Collection[str] | None = None,
    task_status: trio.TaskStatus[None],
) -> None:
    """Answers on `sock`, which it owns from now on, until cancelled; with a `token`, only requests that send
    it. With `console`, the page is there too; with `lend`, clusters are lent; with `only`, there are no more
    than these operations and the trace."""
    with contextlib.ExitStack() as stack:
        history = None
        if console:
            from .history import History

            history = stack.enter_context(contextlib.closing(History(hand_over=target.trace.hand_over)))
            target.trace.hand_to(history)
        application = app(target, token, history=history, lend=lend, only=only)
        await serve_app(application, sock, task_status=task_status)


def app(
    target: Target,
    token: str | None = None,
    *,
    history: "History | None" = None,
    lend: Start | None = None,
    only: Collection[str] | None = None,
) -> ASGIApp:
    """The application, for any server; the console's page goes back to the events of a `history`."""
    routed = _routed(token, history, lend, only)

    async def of_target(scope: Scope, receive: Receive, send: Send) -> None:
        await routed({**scope, IN_SCOPE: target}, receive, send)

    return read_to_the_end(guarded(of_target, token))


def _routed(
    token: str | None,
    history: "History | None" = None,
    lend: Start | None = None,
    only: Collection[str] | None = None,
) -> ASGIApp:
    offered = [each for name, each in OPERATIONS.items() if only is None or name in only]
    routes = [
        Route(_route(operation), _endpoint(operation), methods=[operation.method])
        for operation in sorted(offered, key=_takes_all)
    ]
    routes.append(Route("/openapi.json", _openapi(offered, whole=only is None)))
    routes.append(Route("/trace/stream", _trace))
    if only is None:
        routes.append(Route(oauth.PATH, oauth.endpoint(token), methods=["POST"]))
        routes.append(Route("/metrics", _metrics))
    if history is not None:
        from ..console import files
        from . import avro_values, lines

        routes += files.routes()
        routes += lines.routes(history)
        routes.append(Route(avro_values.PATH, avro_values.decode, methods=["POST"]))
    if lend is not None:
        routes += Clusters(lend, _routed(token)).routes()
    refused: ErrorHandler = functools.partial(_refused, offered)
    handlers = {HTTPException: refused, Exception: _failed}
    return _by_sent_path(Starlette(routes=routes, exception_handlers=handlers))


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


def _endpoint(operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            arguments = {
                **operation.arguments(await json_object(request), partial=True),
                **operation.arguments(_query(request), text=True, partial=True),
                **operation.arguments(_in_path(request), text=True, partial=True),
            }
            operation.complete(arguments)
            result = target_of(request).do(operation.function, **arguments)
            if inspect.isawaitable(result):
                result = await result
        except REFUSALS as error:
            return refusal(error)
        except ClientDisconnect:
            # Nobody reads it.
            return Response(status_code=400)
        return Answer(result)

    return endpoint


def _in_path(request: Request) -> dict[str, str]:
    return {name: unquote(value) for name, value in request.path_params.items()}


def _query(request: Request) -> dict[str, Any]:
    """A value that is given more than once becomes a list."""
    query = request.query_params
    return {name: values if len(values := query.getlist(name)) > 1 else values[0] for name in query}


async def _trace(request: Request) -> ASGIApp:
    target = target_of(request)
    wanted = {name: value for name, value in request.query_params.items() if name != "since"}
    if is_full(target):
        return error_answer(503, FULL)
    try:
        return Events(target, wanted, since(request))
    except ValueError as error:
        return error_answer(400, str(error))


async def _metrics(request: Request) -> Response:
    # Few clusters are asked.
    from .metrics import CONTENT_TYPE, exposition

    return Response(target_of(request).do(exposition), headers={"content-type": CONTENT_TYPE})


def _openapi(offered: Collection[Operation], *, whole: bool) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(_: Request) -> Response:
        return Answer(document(offered, whole=whole))

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
