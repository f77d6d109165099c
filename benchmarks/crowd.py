"""Many connections with one request in flight on each, driven by one loop."""

from __future__ import annotations

import select
import time
from collections.abc import Callable

from benchmarks.apis import AnswerParser
from benchmarks.flight import FIRST_ID, Layout, explain
from benchmarks.wire import CORRELATION, CORRELATION_AT, PATIENCE_SECONDS, Connection, WrongAnswerError

_clock = time.perf_counter_ns


def _poller(descriptors: list[int]) -> Callable[[], list[tuple[int, int]]]:
    """Waits until some of the descriptors can be read."""
    if hasattr(select, "epoll"):
        epoll = select.epoll()
        for descriptor in descriptors:
            epoll.register(descriptor, select.EPOLLIN)
        return lambda: epoll.poll(PATIENCE_SECONDS)
    poll = select.poll()
    for descriptor in descriptors:
        poll.register(descriptor, select.POLLIN)
    return lambda: poll.poll(PATIENCE_SECONDS * 1000)


class Crowd:
    """`offsets` collects every base offset acknowledged, to be looked at when the time is taken."""

    def __init__(
        self, links: list[Connection], frame: bytearray, layout: Layout, parse: AnswerParser
    ) -> None:
        self.offsets: list[int] = []
        self._links = {link.socket.fileno(): link for link in links}
        self._frame = frame
        self._layout = layout
        self._parse = parse
        self._room = memoryview(bytearray(4096))
        self._next_id = FIRST_ID

    def fly(self, seconds: float) -> tuple[list[int], int]:
        """Send on every connection, and again after each answer; latencies and elapsed nanoseconds."""
        ready = _poller(list(self._links))
        calls = {fd: (link.socket.recv_into, link.socket.sendall) for fd, link in self._links.items()}
        waiting: dict[int, tuple[int, int]] = {}  # by descriptor: correlation id, time of sending
        latencies: list[int] = []
        frame, room, size = self._frame, self._room, self._layout.size
        unpack, set_id = self._layout.fields.unpack_from, CORRELATION.pack_into
        keep_offset, keep_latency = self.offsets.append, latencies.append
        identity = self._next_id
        start = _clock()
        deadline = start + int(seconds * 1e9)
        for descriptor, (_, send) in calls.items():
            set_id(frame, CORRELATION_AT, identity)
            waiting[descriptor] = identity, _clock()
            send(frame)
            identity += 1
        while waiting:
            events = ready()
            if not events:
                raise WrongAnswerError(f"{len(waiting)} answers missing after {PATIENCE_SECONDS} s")
            for descriptor, _ in events:
                receive, send = calls[descriptor]
                expected, sent = waiting[descriptor]
                got = receive(room)
                if got != size:
                    got = self._links[descriptor].complete(room, got)
                length, correlation, error, offset = unpack(room)
                if length != size - 4 or correlation != expected or error:
                    raise explain(room[:got], self._parse, expected, None)
                keep_offset(offset)
                now = _clock()
                keep_latency(now - sent)
                if now < deadline:
                    set_id(frame, CORRELATION_AT, identity)
                    waiting[descriptor] = identity, now
                    send(frame)
                    identity += 1
                else:
                    del waiting[descriptor]
        self._next_id = identity
        return latencies, _clock() - start
