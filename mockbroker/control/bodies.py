"""What clients send with their requests: it has an end, and is read even by those who refuse the request.

A connection that is closed while something of the body has not been read is reset, and the client loses the
answer that says why.
"""

import contextlib
import json
import math
from typing import Any, Final

import trio
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .errors import TooLargeError, TooSlowError

MOST_BYTES: Final = 1024 * 1024
"""The largest body with arguments."""
SECONDS: Final = 30
"""How long the whole body may take."""
MOST_DISCARDED: Final = 64 * 1024 * 1024
"""How much is read of bodies that nobody wants, in bytes."""


def read_to_the_end(inner: ASGIApp) -> ASGIApp:
    """Reads what is left of a body before the answer is sent. `trio.TooSlowError` for an application that
    reads it, once it took too long."""

    async def reading(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return
        body = _Body(receive)

        async def send_after_body(message: Message) -> None:
            if message["type"] == "http.response.start":
                await body.discard()
            await send(message)

        await inner(scope, body.receive, send_after_body)

    return reading


async def body(request: Request, most_bytes: int) -> bytes:
    """The whole body of a request. TooLargeError, TooSlowError; ClientDisconnect."""
    text = bytearray()
    try:
        async with contextlib.aclosing(request.stream()) as parts:
            async for part in parts:
                text += part
                if len(text) > most_bytes:
                    raise TooLargeError(f"the body has more than {most_bytes} bytes")
    except trio.TooSlowError:
        raise TooSlowError(f"the body did not come within {SECONDS} s") from None
    return bytes(text)


async def json_object(request: Request) -> dict[str, Any]:
    """The body of a request that gives arguments by name; empty without one. ValueError; ClientDisconnect."""
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


class _Body:
    """The messages of one request."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._deadline = trio.current_time() + SECONDS
        self._ended = False
        self._gone: Message | None = None

    async def receive(self) -> Message:
        """The next message. `trio.TooSlowError`."""
        if self._gone is not None:
            return self._gone
        with trio.fail_at(math.inf if self._ended else self._deadline):
            message = await self._receive()
        if message["type"] == "http.disconnect":
            self._gone = message
        self._ended = self._ended or self._gone is not None or not message.get("more_body", False)
        return message

    async def discard(self) -> None:
        """Reads the rest, unless that is too much or takes too long."""
        size = 0
        with contextlib.suppress(trio.TooSlowError):
            while not self._ended and size < MOST_DISCARDED:
                size += len((await self.receive()).get("body", b""))
