"""What attackers have in common: whom they attack, until when, and how they send."""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Self, TypeVar

from benchmarks.wire import Writer
from mockbroker.protocol.api_keys import ApiKey

T = TypeVar("T")
_MOST_BYTES: Final = 400_000_000
"""No attacker sends more."""
UNENDED: Final = 1000
_KEPT: Final = 1 << 12
_AT_ONCE: Final = 1 << 16


@dataclass(frozen=True)
class Target:
    """Which broker and topic, until when (`time.monotonic`)."""

    address: str
    topic: str
    until: float
    control: str | None = None
    """Address of the control API."""

    def connect(self) -> socket.socket:
        host, _, port = self.address.rpartition(":")
        return socket.create_connection((host, int(port)), 30)

    def at(self, listener: str) -> Self:
        """The same at another listener. It asks the control API."""
        url = f"{self.control}/clients/settings/confluent-kafka?listener={listener}"
        with urllib.request.urlopen(url, timeout=10) as answered:
            servers = json.load(answered)["bootstrap.servers"]
        return replace(self, address=servers.split(",")[0])

    @property
    def going_on(self) -> bool:
        return time.monotonic() < self.until


class LetInError(Exception):
    """Somebody was let in who should not have been."""


def create_topics(names: list[str], partitions: int = 1) -> bytes:
    writer = Writer(ApiKey.CREATE_TOPICS, 4, flexible=False).put("l", len(names))
    for name in names:
        writer.put("sihll", name, partitions, 1, 0, 0)
    return bytes(writer.put("ib", 30_000, 0).done())


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """As many at a time, and in the end what is left."""
    left = iter(items)
    while some := list(islice(left, size)):
        yield some


def begun() -> None:
    sys.stdout.write("begun\n")
    sys.stdout.flush()


def wait(target: Target) -> None:
    time.sleep(max(0.0, target.until - time.monotonic()))


def ask(sock: socket.socket, frame: bytes) -> bytes:
    """Sends a request and reads its answer; of that only the beginning is kept, after the correlation id.
    ConnectionError at the end of the connection."""
    sock.sendall(frame)
    return answer(sock)


def answer(sock: socket.socket) -> bytes:
    """The beginning of the next answer."""
    left = int(struct.unpack(">i", exactly(sock, 4))[0])
    kept = exactly(sock, min(left, _KEPT))
    left -= len(kept)
    while left > 0:
        left -= len(exactly(sock, min(left, _AT_ONCE)))
    return kept[4:]


def exactly(sock: socket.socket, size: int) -> bytes:
    """ConnectionError at the end of the connection."""
    data = b""
    while len(data) < size:
        if not (some := sock.recv(size - len(data))):
            raise ConnectionError("closed by the broker")
        data = data + some if data else some
    return data


def one_after_the_other(target: Target, *frames: bytes) -> None:
    """Each frame on a connection of its own, again and again, whether it is answered or refused."""
    begun()
    left = max(len(frames), _MOST_BYTES // max(map(len, frames)))
    for frame in _again(frames):
        if not target.going_on or not left:
            break
        left -= 1
        with target.connect() as sock:
            try:
                ask(sock, frame)
            except (ConnectionError, TimeoutError):
                continue
    wait(target)


def _again(frames: tuple[bytes, ...]) -> Iterator[bytes]:
    while True:
        yield from frames


def many(target: Target, frames: list[bytes], connections: int, *, reading: bool = True) -> None:
    """Sends on many connections whatever they take."""
    with ExitStack() as stack:
        socks = {}
        poll = stack.enter_context(select.epoll())
        for number in range(connections):
            sock = stack.enter_context(target.connect())
            sock.setblocking(False)
            socks[sock.fileno()] = sock, memoryview(frames[number % len(frames)])
            poll.register(sock, select.EPOLLIN * reading | select.EPOLLOUT)
        begun()
        rests = {fd: whole for fd, (_, whole) in socks.items()}
        sent, room = 0, bytearray(1 << 18)
        while target.going_on:
            for fd, events in poll.poll(0.05):
                sock, whole = socks[fd]
                if events & select.EPOLLIN and not sock.recv_into(room):
                    raise ConnectionError("closed by the broker")
                if events & select.EPOLLOUT and sent < _MOST_BYTES:
                    size = sock.send(rests[fd])
                    sent += size
                    rests[fd] = rests[fd][size:] or whole


def unended(target: Target, beginnings: list[bytes]) -> None:
    """1,000 connections that send a beginning and do not go on; those that are closed come again."""
    with ExitStack() as stack:
        poll = stack.enter_context(select.epoll())
        socks: dict[int, socket.socket] = {}

        def come(number: int) -> None:
            sock = stack.enter_context(target.connect())
            sock.sendall(beginnings[number % len(beginnings)])
            socks[sock.fileno()] = sock
            poll.register(sock, select.EPOLLIN)

        for number in range(UNENDED):
            come(number)
        begun()
        while target.going_on:
            for fd, _ in poll.poll(0.05):
                with suppress(ConnectionError):
                    if socks[fd].recv(1 << 16):
                        continue
                poll.unregister(fd)
                socks.pop(fd).close()
                come(fd)
