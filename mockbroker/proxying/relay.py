"""Reads the sockets of all connections in one task: to wake up a task takes longer than to carry bytes."""

import socket
import time
from collections.abc import Callable
from typing import Final

import trio

from ..server.beside import has_all_clients
from ..server.in_trio import running
from ..server.poller import READ, SOCKETS_PER_LOOK, TURN_SECONDS, new_poller

PATIENCE_SECONDS: Final = 0.003
"""How long it waits for more before it yields: most brokers have answered by then."""
READ_BYTES: Final = 256 * 1024


class Relay:
    """Hands over what sockets have received, while `run` runs. `seconds_left` says how long it may wait for
    more at most."""

    def __init__(self, seconds_left: Callable[[], float]) -> None:
        self._seconds_left = seconds_left
        self._poller = new_poller()
        self._readers: dict[int, _Reader] = {}

    @property
    def has_clients(self) -> bool:
        return bool(self._readers)

    async def carry(self, sock: socket.socket, take: Callable[[bytes], bool]) -> bool:
        """Gives `take` what comes until it has enough for now, and returns False, or until no more will come.
        Raises OSError, and what `take` raises."""
        reader = self._readers[sock.fileno()] = _Reader(sock, take)
        self._poller.watch(sock.fileno(), READ)
        try:
            await reader.done.wait()
        finally:
            self._forget(reader)
        if reader.error is not None:
            raise reader.error
        return reader.ended

    async def run(self) -> None:
        """Until it is cancelled."""
        beside = running()
        beside.append(self)
        try:
            while True:
                if self._turn(PATIENCE_SECONDS if has_all_clients(self, beside) else 0):
                    await trio.lowlevel.checkpoint()
                else:
                    await trio.lowlevel.wait_readable(self._poller.fileno())
        finally:
            beside.remove(self)

    def close(self) -> None:
        """Once nothing is carried any more."""
        self._poller.close()

    def _turn(self, patience: float) -> bool:
        """Reads until nothing comes, or until the turn is over: then there may be more."""
        poll, readers = self._poller.poll, self._readers
        end = time.monotonic() + TURN_SECONDS
        while events := poll(min(patience, self._seconds_left()), SOCKETS_PER_LOOK):
            for fd, _ in events:
                # What another one has received may have ended it.
                if (reader := readers.get(fd)) is not None and not reader.reads():
                    self._forget(reader)
                    reader.done.set()
            if time.monotonic() > end:
                return True
        return False

    def _forget(self, reader: "_Reader") -> None:
        fd = reader.fd
        if self._readers.get(fd) is reader:
            del self._readers[fd]
            self._poller.forget(fd)


class _Reader:
    __slots__ = ("done", "ended", "error", "fd", "sock", "take")

    def __init__(self, sock: socket.socket, take: Callable[[bytes], bool]) -> None:
        self.sock = sock
        self.fd = sock.fileno()
        self.take = take
        self.done = trio.Event()
        self.ended = False
        self.error: Exception | None = None

    def reads(self) -> bool:
        """Reads once; False if that was all for now."""
        try:
            data = self.sock.recv(READ_BYTES)
            if not data:
                self.ended = True
                return False
            return self.take(data)
        except BlockingIOError:
            return True
        except Exception as error:
            self.error = error
            return False
