"""Passes what clients say on to a cluster, and tells somebody of it."""

import itertools
import time
from collections import deque
from typing import Final, NamedTuple, Protocol

import trio

from ..addresses import joined
from ..errors import UpstreamError
from .addresses import moved
from .messages import UNREADABLE, answered, correlation_id_of, read_request
from .streams import Frames, Listeners, address_of, ends_of

Address = tuple[str, int]
_UNANSWERED: Final = 10_000
"""How many requests of a connection are remembered at most until their answers come."""


class Told(Protocol):
    """Is told what passes: frames without sizes, as the client and the broker sent them. Times are µs since
    1970."""

    def opened(self, at_us: int, connection: int, client: str, broker: str) -> None: ...
    def request(self, at_us: int, connection: int, frame: bytes) -> None: ...
    def answer(self, at_us: int, connection: int, frame: bytes) -> None: ...
    def closed(self, at_us: int, connection: int) -> None: ...


class Passing(Protocol):
    """Passes traffic until it is cancelled; its `started` value is the address for clients."""

    async def run(self, told: Told, *, task_status: trio.TaskStatus[Address]) -> None: ...


class Direct:
    """Passes frames as they are, except for the addresses of brokers in answers: each broker gets a port of
    its own here."""

    def __init__(self, upstream: Address, host: str, port: int) -> None:
        self._upstream = upstream
        self._listeners = Listeners(host, port)
        self._here: dict[Address, Address] = {}
        self._numbers = itertools.count(1)

    async def run(self, told: Told, *, task_status: trio.TaskStatus[Address]) -> None:
        """UpstreamError if the cluster can't be reached at first; PortInUseError."""
        try:
            with trio.fail_after(10):
                stream = await trio.open_tcp_stream(*self._upstream)
        except (OSError, trio.TooSlowError) as error:
            why = f"can't reach {joined(*self._upstream)}: {error or 'no answer in 10 s'}"
            raise UpstreamError(why) from None
        await stream.aclose()
        async with trio.open_nursery() as nursery:
            self._nursery, self._told = nursery, told
            task_status.started(self._at(self._upstream))

    def _at(self, broker: Address) -> Address:
        """Where this broker is found here."""
        if broker not in self._here:
            listener = self._listeners.open()
            self._here[broker] = address_of(listener)

            async def pass_on(stream: trio.SocketStream) -> None:
                await _Connection(self._told, next(self._numbers), broker, self._at).run(stream)

            self._nursery.start_soon(trio.serve_listeners, pass_on, [listener])
        return self._here[broker]


class _At(Protocol):
    def __call__(self, broker: Address, /) -> Address: ...


class _Asked(NamedTuple):
    """What has to be known of a request to read its answer."""

    correlation_id: int
    api: str
    version: int


class _Connection:
    """A client's connection, and the one to the broker behind it."""

    def __init__(self, told: Told, number: int, broker: Address, at: _At) -> None:
        self._told, self._number, self._broker, self._at = told, number, broker, at
        self._asked: deque[_Asked] = deque(maxlen=_UNANSWERED)

    async def run(self, client: trio.SocketStream) -> None:
        try:
            broker = await trio.open_tcp_stream(*self._broker)
        except OSError:
            # The client sees what it would see of a broker that is down.
            return
        async with broker:
            self._told.opened(_now_us(), self._number, joined(*ends_of(client)), joined(*self._broker))
            try:
                async with trio.open_nursery() as nursery:
                    up, down = Frames(client), Frames(broker)
                    nursery.start_soon(self._requests, up, down, nursery.cancel_scope)
                    await self._answers(up, down)
                    nursery.cancel_scope.cancel()
            finally:
                self._told.closed(_now_us(), self._number)

    async def _requests(self, client: Frames, broker: Frames, scope: trio.CancelScope) -> None:
        while (frame := await client.read()) is not None:
            self._remember(frame)
            self._told.request(_now_us(), self._number, frame)
            if not await broker.write(frame):
                break
        scope.cancel()

    async def _answers(self, client: Frames, broker: Frames) -> None:
        while (frame := await broker.read()) is not None:
            self._told.answer(_now_us(), self._number, frame)
            if not await client.write(self._moved(frame)):
                return

    def _remember(self, frame: bytes) -> None:
        try:
            asked = read_request(frame)
        except UNREADABLE:
            return
        self._asked.append(_Asked(asked.correlation_id, asked.api, asked.version))

    def _moved(self, frame: bytes) -> bytes:
        try:
            correlation_id = correlation_id_of(frame)
        except ValueError:
            return frame
        asked = answered(self._asked, correlation_id)
        if asked is None:
            return frame
        return moved(asked.api, asked.version, frame, lambda _, host, port: self._at((host, port)))


def _now_us() -> int:
    return time.time_ns() // 1000
