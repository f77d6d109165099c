"""Reads the sockets of all connections in one task: to wake up a task takes longer than to carry bytes."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import trio

from ..server.beside import Beside, has_all_clients
from ..server.in_trio import running
from ..server.poller import READ, SOCKETS_PER_LOOK, TURN_SECONDS, WRITE, new_poller

PATIENCE_SECONDS: Final = 0.003
"""How long it waits for more before it yields: most brokers have answered by then."""
READ_BYTES: Final = 256 * 1024


class Relay:
    """Hands over what sockets have received, while `run` runs. `seconds_left` says how long it may wait for
    more at most.

    While it waits for more, no other task runs. So it does not wait in a block of `others`, nor in the turn
    after `woke` was called.
    """

    def __init__(self, seconds_left: Callable[[], float]) -> None:
        self._seconds_left = seconds_left
        self._poller = new_poller()
        self._readers: dict[int, _Reader] = {}
        self._waiting: dict[int, tuple[int, trio.Event]] = {}
        self._watched: dict[int, int] = {}
        self._others = 0
        self._woke = False

    @property
    def has_clients(self) -> bool:
        return bool(self._readers)

    @contextmanager
    def others(self) -> Iterator[None]:
        """Meanwhile another task waits for something that the relay doesn't know of."""
        self._others += 1
        try:
            yield
        finally:
            self._others -= 1

    def woke(self) -> None:
        """Another task was woken or started."""
        self._woke = True

    async def carry(self, sock: socket.socket, take: Callable[[bytes], bool]) -> bool:
        """Gives `take` what comes until it has enough for now, and returns False, or until no more will come.
        Raises OSError, and what `take` raises."""
        reader = self._readers[sock.fileno()] = _Reader(sock, take)
        self._watch(reader.fd)
        try:
            await reader.done.wait()
        finally:
            self._forget(reader)
        if reader.error is not None:
            raise reader.error
        return reader.ended

    async def readable(self, sock: socket.socket) -> None:
        """Until it has received something, or somebody connects. Nobody may `carry` from it."""
        await self._wait(sock.fileno(), READ)

    async def writable(self, sock: socket.socket) -> None:
        """Until it takes bytes, or has failed."""
        await self._wait(sock.fileno(), WRITE)

    async def _wait(self, fd: int, events: int) -> None:
        one = self._waiting[fd] = events, trio.Event()
        self._watch(fd)
        try:
            await one[1].wait()
        finally:
            if self._waiting.get(fd) is one:
                del self._waiting[fd]
                self._watch(fd)

    async def run(self) -> None:
        """Until it is cancelled."""
        beside = running()
        beside.append(self)
        try:
            while True:
                await trio.lowlevel.wait_readable(self._poller.fileno())
                while self._turn(beside):
                    await trio.lowlevel.checkpoint()
        finally:
            beside.remove(self)

    def close(self) -> None:
        """Once nothing is carried any more."""
        self._poller.close()

    def _turn(self, beside: list[Beside]) -> bool:
        """Reads until nothing comes, or until others have to run: then there may be more."""
        poll, readers = self._poller.poll, self._readers
        alone = not self._woke and not self._others and has_all_clients(self, beside)
        patience = PATIENCE_SECONDS if alone else 0
        self._woke = False
        end = time.monotonic() + TURN_SECONDS
        while events := poll(min(patience, self._seconds_left()), SOCKETS_PER_LOOK):
            for fd, mask in events:
                # What another one has received may have ended it.
                reader = readers.get(fd)
                if reader is None or mask & WRITE:
                    self._tell(fd)
                if reader is not None and mask & ~WRITE and not reader.reads():
                    self._forget(reader)
                    reader.done.set()
                    self._woke = True
            if self._woke or time.monotonic() > end:
                return True
        return False

    def _tell(self, fd: int) -> None:
        """What somebody waits for has happened."""
        if fd in self._waiting:
            _, event = self._waiting.pop(fd)
            self._watch(fd)
            event.set()
            self._woke = True

    def _forget(self, reader: "_Reader") -> None:
        if self._readers.get(reader.fd) is reader:
            del self._readers[reader.fd]
            self._watch(reader.fd)

    def _watch(self, fd: int) -> None:
        """Watches it for what is waited for now."""
        had = self._watched.get(fd, 0)
        wanted = self._waiting[fd][0] if fd in self._waiting else 0
        if fd in self._readers:
            wanted |= READ
        if wanted and not had:
            self._poller.watch(fd, wanted)
        elif had and not wanted:
            self._poller.forget(fd)
        elif wanted != had:
            self._poller.change(fd, wanted)
        if wanted:
            self._watched[fd] = wanted
        else:
            self._watched.pop(fd, None)


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
