"""Passes what clients say on to a cluster, and tells somebody of it."""

import contextlib
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, NamedTuple, Protocol

import trio

from ..addresses import joined, of_client
from ..proxying.asking import ask_brokers
from ..proxying.dialing import Dial, Stream
from ..proxying.listening import ListenerTls
from ..proxying.options import Address, UpstreamTls
from ..security import Security
from ..server.foreign import TLS_HANDSHAKE
from .addresses import moved
from .messages import UNREADABLE, answered, correlation_id_of, read_request
from .streams import Frames, Listeners, address_of, ends_of

_GOODBYE_S: Final = 1.0
_UNANSWERED: Final = 10_000
"""How many requests of a connection are remembered at most until their answers come."""
_LINES: Final = 1000
"""How many different lines a user is told."""


class Told(Protocol):
    """Is told what passes: frames without sizes, as the client and the broker sent them. Times are µs since
    1970."""

    def opened(self, at_us: int, connection: int, client: str, broker: str) -> None: ...
    def request(self, at_us: int, connection: int, frame: bytes) -> None: ...
    def answer(self, at_us: int, connection: int, frame: bytes) -> None: ...
    def closed(self, at_us: int, connection: int) -> None: ...


class Direct:
    """Passes frames as they are, except for the addresses of brokers in answers: each broker gets a port of
    its own here.

    `upstream` are addresses of its brokers, one at least. With `upstream_tls` it speaks TLS to brokers, with
    `security` clients speak TLS to it. `tell` gets a line for each broker that can't be reached, and each
    client whose handshake failed, once. OptionError, MissingExtraError.
    """

    def __init__(
        self,
        upstream: Sequence[Address],
        host: str,
        port: int,
        *,
        upstream_tls: UpstreamTls | None = None,
        security: Security | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._upstream = upstream
        self._dial = Dial(upstream_tls)
        self._listeners = Listeners(host, port)
        self.tls = None if security is None else ListenerTls(security, [host])
        self._tell_user = tell
        self._said: set[str] = set()
        self._here: dict[Address, Address] = {}
        self._numbers = itertools.count(1)

    async def run(self, told: Told, *, task_status: trio.TaskStatus[list[Address]]) -> None:
        """Until it is cancelled; starts with the addresses for clients. UpstreamError if the cluster can't be
        asked at first; PortInUseError."""
        try:
            await ask_brokers(list(self._upstream), lambda there: self._dial.stream(there, there[0]))
            async with trio.open_nursery() as nursery:
                self._nursery, self._told = nursery, told
                task_status.started([self._at(each) for each in self._upstream])
        finally:
            if self.tls is not None:
                self.tls.close()

    def _at(self, broker: Address) -> Address:
        """Where this broker is found here."""
        if broker not in self._here:
            listener = self._listeners.open()
            self._here[broker] = address_of(listener)

            async def pass_on(stream: trio.SocketStream) -> None:
                await self._pass_on(stream, broker)

            self._nursery.start_soon(trio.serve_listeners, pass_on, [listener])
        return self._here[broker]

    async def _pass_on(self, plain: trio.SocketStream, broker: Address) -> None:
        name = ends_of(plain)
        try:
            client = plain if self.tls is None else await self.tls.stream(plain)
        except ConnectionError as error:
            self._tell(f"{of_client(name[0])}: closed, {error}")
            return
        if client is None:
            return
        async with _closed(client):
            try:
                there = await self._dial.stream_in_time(broker, broker[0])
            except OSError as error:
                # The client sees what it would see of a broker that is down.
                self._tell(f"{joined(*broker)} can't be reached: {error}")
                return
            async with _closed(there):
                connection = _Connection(self._told, next(self._numbers), broker, self._at)
                up = Frames(client)
                await connection.run(name, up, Frames(there))
                if up.rest.startswith(TLS_HANDSHAKE):
                    why = "it sent a TLS handshake, but this was started without --tls"
                    self._tell(f"{of_client(name[0])}: closed, {why}")

    def _tell(self, line: str) -> None:
        if line not in self._said and len(self._said) < _LINES:
            self._said.add(line)
            self._tell_user(line)


@contextlib.asynccontextmanager
async def _closed(stream: Stream) -> AsyncIterator[None]:
    """Closes it at the end, even if the other side takes no goodbye."""
    try:
        yield
    finally:
        with trio.move_on_after(_GOODBYE_S), contextlib.suppress(trio.BrokenResourceError):
            await stream.aclose()


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

    async def run(self, name: Address, up: Frames, down: Frames) -> None:
        """Until the client, `up`, or the broker, `down`, ends it. `name` is the client's address."""
        self._told.opened(_now_us(), self._number, joined(*name), joined(*self._broker))
        try:
            async with trio.open_nursery() as nursery:
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
