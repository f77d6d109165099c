"""Frames over TCP, under trio."""

import struct
from collections.abc import Awaitable, Callable
from typing import Final

import trio

from ..protocol.headers import MAX_FRAME_BYTES
from ..server.listening import listen

_SIZE: Final = struct.Struct(">i")
_PIECE: Final = 1 << 16
_PORTS: Final = 100
"""How many ports after the first one are tried."""

BROKEN: Final = (trio.BrokenResourceError, trio.ClosedResourceError)
Handler = Callable[[trio.SocketStream], Awaitable[None]]


class Frames:
    """Reads frames, without their sizes."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._data = bytearray()

    @property
    def rest(self) -> bytes:
        """What has come, and is no frame so far."""
        return bytes(self._data)

    async def read(self) -> bytes | None:
        """The next frame; None if the connection has ended, or what comes is no frame."""
        while len(self._data) < _SIZE.size:
            if not await self._more():
                return None
        (size,) = _SIZE.unpack_from(self._data)
        if not 0 <= size <= MAX_FRAME_BYTES:
            return None
        while len(self._data) < _SIZE.size + size:
            if not await self._more():
                return None
        frame = bytes(self._data[_SIZE.size : _SIZE.size + size])
        del self._data[: _SIZE.size + size]
        return frame

    async def _more(self) -> bool:
        try:
            piece = await self.stream.receive_some(_PIECE)
        except BROKEN:
            return False
        self._data += piece
        return bool(piece)

    async def write(self, frame: bytes) -> bool:
        """Whether it could be sent."""
        try:
            await self.stream.send_all(_SIZE.pack(len(frame)) + frame)
        except BROKEN:
            return False
        return True


class Listeners:
    """Gives each broker a port on one host: the first one, and those after it; any free ones with port 0."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._next, self._any = host, port, port == 0
        self._first = True

    def open(self) -> trio.SocketListener:
        """PortInUseError if the first port is taken, or none of the next ones is free."""
        last = self._next if self._first or self._any else self._next + _PORTS
        while True:
            port = self._next
            try:
                sock = listen(self._host, port)
            except OSError:
                if port >= last:
                    raise
                self._next += 1
                continue
            self._first = False
            if not self._any:
                self._next = port + 1
            return trio.SocketListener(trio.socket.from_stdlib_socket(sock))


def address_of(listener: trio.SocketListener) -> tuple[str, int]:
    """Host and port on which it listens."""
    host, port, *_ = listener.socket.getsockname()
    return str(host), int(port)


def ends_of(stream: trio.SocketStream) -> tuple[str, int]:
    """Host and port of the other side; `?` if it has gone already."""
    try:
        host, port, *_ = stream.socket.getpeername()
    except OSError:
        return "?", 0
    return str(host), int(port)
