"""The socket of a client or of a broker, with TLS or without, as a `Connection` reads and writes it."""

import contextlib
import socket
from collections.abc import Callable
from typing import Any, Final, Protocol

import trio

from ..server.sockets import NO_LINGER
from .framing import Outlet
from .relay import READ_BYTES, Relay

_BUFFERS_PER_WRITE: Final = 64
_ENCRYPTED_BYTES: Final = 64 * 1024
"""How much is encrypted at once."""
_GOODBYE_SECONDS: Final = 1


class Side(Protocol):
    """One of the two. Raises OSError if the other end is gone."""

    async def carry(self, take: Callable[[bytes], bool]) -> bool:
        """Gives `take` what comes until it has enough for now, and returns False, or until no more will
        come."""

    def send_now(self, data: bytes) -> int:
        """Sends as many bytes as are taken at once, if that can be told; how many. Raises nothing."""

    def write_now(self, outlet: Outlet) -> None:
        """The same with what is to be written."""

    async def write(self, outlet: Outlet) -> None:
        """Writes some of it, at least."""

    def end(self) -> None:
        """No more will be written."""

    async def close(self, *, resets: bool) -> None:
        """With a RST, if it `resets`."""


class PlainSide:
    """Without TLS."""

    def __init__(self, sock: socket.socket, relay: Relay) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._relay = relay

    async def carry(self, take: Callable[[bytes], bool]) -> bool:
        return await self._relay.carry(self._sock, take)

    def send_now(self, data: bytes) -> int:
        try:
            return self._sock.send(data)
        except OSError:
            # If it is gone, the next one to write finds out.
            return 0

    def write_now(self, outlet: Outlet) -> None:
        try:
            while outlet.size:
                outlet.written(self._sock.sendmsg(outlet.first(_BUFFERS_PER_WRITE)))
        except BlockingIOError:
            return

    async def write(self, outlet: Outlet) -> None:
        await self._relay.writable(self._sock)
        self.write_now(outlet)

    def end(self) -> None:
        self._sock.shutdown(socket.SHUT_WR)

    async def close(self, *, resets: bool) -> None:
        if resets:
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
        self._sock.close()


TlsStream = trio.SSLStream[trio.SocketStream]


class TlsSide:
    """With TLS, after the handshake."""

    def __init__(self, stream: TlsStream) -> None:
        self._stream = stream
        self._sock: Any = stream.transport_stream.socket

    async def carry(self, take: Callable[[bytes], bool]) -> bool:
        while True:
            with _as_oserror():
                data = bytes(await self._stream.receive_some(READ_BYTES))
            if not data:
                return True
            if not take(data):
                return False

    def send_now(self, data: bytes) -> int:
        """What is encrypted has to be sent: that may take time."""
        return 0

    def write_now(self, outlet: Outlet) -> None:
        """As `send_now`."""

    async def write(self, outlet: Outlet) -> None:
        data = outlet.joined(_ENCRYPTED_BYTES)
        with _as_oserror():
            await self._stream.send_all(data)
        outlet.written(len(data))

    def end(self) -> None:
        # A close_notify would end both directions: Java's TLS closes the connection then.
        self._sock.shutdown(socket.SHUT_WR)

    async def close(self, *, resets: bool) -> None:
        if resets:
            self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
            await trio.aclose_forcefully(self._stream)
            return
        with trio.move_on_after(_GOODBYE_SECONDS), contextlib.suppress(trio.BrokenResourceError):
            await self._stream.aclose()


def side_of(stream: trio.SocketStream | TlsStream, relay: Relay) -> Side:
    """Takes the socket of `stream`."""
    if isinstance(stream, trio.SSLStream):
        return TlsSide(stream)
    return PlainSide(socket.socket(fileno=stream.socket.detach()), relay)


@contextlib.contextmanager
def _as_oserror() -> Any:
    try:
        yield
    except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
        raise ConnectionError(str(error.__cause__ or error)) from None
