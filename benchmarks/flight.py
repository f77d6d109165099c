"""Requests in flight on one connection, made and checked at the least cost to the client.

The frames lie prebuilt in a ring, each with its own correlation id, so that sending k of them is one call on
a slice of it. A frame too large for that is kept once, and its correlation id is patched before each send.
Answers have one size: the first is parsed field by field, and gives the layout by which all further ones are
unpacked and checked.
"""

from __future__ import annotations

import struct
import time
from typing import Any, Final

from benchmarks.apis import AnswerParser
from benchmarks.records import set_sequence
from benchmarks.wire import CORRELATION, CORRELATION_AT, Connection, Reader, WrongAnswerError

RING: Final = 256
"""Correlation ids go round; more than ever are in flight."""

FIRST_ID: Final = 0x2B0B_0000
RING_LIMIT_BYTES: Final = 4096
"""Frames up to this size lie in the ring."""


class Layout:
    """Where answers of one size hold what is checked: length, correlation id, error code, value."""

    def __init__(self, size: int, error_at: int, value_at: int) -> None:
        self.size = size
        gaps = error_at - 8, value_at - error_at - 2, size - value_at - 8
        self.fields = struct.Struct(">ii{}xh{}xq{}x".format(*gaps))


def learn_layout(answer: memoryview, parse: AnswerParser) -> Layout:
    cell = parse(Reader(answer))
    return Layout(len(answer), cell.error_at, cell.value_at)


def explain(answer: memoryview, parse: AnswerParser, correlation: int, value: int | None) -> WrongAnswerError:
    """What is wrong with an answer that failed its check."""
    reader = Reader(answer)
    if reader.correlation_id != correlation:
        return WrongAnswerError(f"correlation id {reader.correlation_id}, expected {correlation}")
    cell = parse(reader)
    if cell.error:
        return WrongAnswerError(f"error code {cell.error}")
    if value is not None and cell.value != value:
        return WrongAnswerError(f"offset {cell.value} in the answer, expected {value}")
    return WrongAnswerError(f"answer of {len(answer)} bytes, unlike the earlier ones")


class Flight:
    """Equal requests on one connection, answered in order.

    `value` is the offset that the next answer must hold, `step` what it grows by with each answer.
    """

    def __init__(
        self, connection: Connection, frame: bytearray, depth: int, parse: AnswerParser, value: int, step: int
    ) -> None:
        assert depth <= RING
        self.connection = connection
        self.parse = parse
        self.value = value
        self.step = step
        self._size = len(frame)
        self._ids = tuple(range(FIRST_ID, FIRST_ID + RING)) * 2
        self._in_ring = self._size <= RING_LIMIT_BYTES
        self._frames = bytearray(frame) * (RING + depth if self._in_ring else 1)
        if self._in_ring:
            for at in range(RING + depth):
                CORRELATION.pack_into(self._frames, at * self._size + CORRELATION_AT, self._ids[at])
        self._view = memoryview(self._frames)
        self._sent_at = 0
        self._read_at = 0
        self._room = memoryview(bytearray(1 << 16))
        self._filled = 0
        self._layout = self._first_answer()

    def _first_answer(self) -> Layout:
        """One request and its answer, parsed field by field."""
        self.send(1)
        answer = self._room[: self.connection.answer_into(self._room)]
        cell = self.parse(Reader(answer))
        if Reader(answer).correlation_id != FIRST_ID or cell.error or cell.value != self.value:
            raise explain(answer, self.parse, FIRST_ID, self.value)
        self._read_at = 1
        self.value += self.step
        return learn_layout(answer, self.parse)

    def send(self, count: int) -> None:
        """`count` more requests; in one write where they are small."""
        at = self._sent_at
        self._sent_at = (at + count) % RING
        if self._in_ring:
            self.connection.socket.sendall(self._view[at * self._size : (at + count) * self._size])
            return
        for which in range(at, at + count):
            CORRELATION.pack_into(self._frames, CORRELATION_AT, self._ids[which])
            self.connection.socket.sendall(self._view)

    def receive(self) -> int:
        """Wait for an answer, check all that are there; how many."""
        size = self._layout.size
        while True:
            self._filled += self.connection.receive(self._room[self._filled :])
            count = self._filled // size
            if count:
                break
            self._check_length()
        end = count * size
        at, value, step = self._read_at, self.value, self.step
        fields = self._layout.fields.iter_unpack(self._room[:end])
        ids = self._ids[at : at + count]
        for (length, correlation, error, offset), expected in zip(fields, ids, strict=True):
            if length != size - 4 or correlation != expected or error or offset != value:
                raise self._explain((value - self.value) // step if step else ids.index(expected), value)
            value += step
        self.value = value
        self._read_at = (at + count) % RING
        self._filled -= end
        if self._filled:
            self._room[: self._filled] = self._room[end : end + self._filled]
        return count

    def one_by_one(self, deadline: int, latencies: list[int]) -> None:
        """One round of the ring with one request in flight, or up to the deadline.

        Appends the nanoseconds from before each send until after its read; each check comes after that.
        """
        assert self._in_ring
        at, size = self._sent_at, self._layout.size
        ids = self._ids[at:RING]
        frames = [self._view[which * self._size : (which + 1) * self._size] for which in range(at, RING)]
        send, receive, room = self.connection.socket.sendall, self.connection.socket.recv_into, self._room
        unpack, clock, keep = self._layout.fields.unpack_from, time.perf_counter_ns, latencies.append
        for frame, expected in zip(frames, ids, strict=True):
            start = clock()
            send(frame)
            got = receive(room)
            end = clock()
            keep(end - start)
            if got != size:
                got = self.connection.complete(room, got)
            length, correlation, error, offset = unpack(room)
            if length != size - 4 or correlation != expected or error or offset != self.value:
                self._filled = got
                raise self._explain(0, self.value)
            self.value += self.step
            self._sent_at = self._read_at = (self._sent_at + 1) % RING
            if end > deadline:
                break

    def _check_length(self) -> None:
        """A shorter answer than the earlier ones would be waited for in vain."""
        if self._filled >= 4:
            length = int(CORRELATION.unpack_from(self._room)[0])
            if length + 4 < self._layout.size and self._filled >= length + 4:
                raise self._explain(0, self.value)

    def _explain(self, which: int, value: int) -> WrongAnswerError:
        start = which * self._layout.size
        length = int(CORRELATION.unpack_from(self._room, start)[0])
        end = min(start + 4 + max(4, length), self._filled)
        return explain(self._room[start:end], self.parse, self._ids[self._read_at + which], value)


class IdempotentFlight(Flight):
    """Batches of one producer, with consecutive sequences; each lies in the frame from `batch_at` on and has
    `batch_bytes`."""

    def __init__(self, batch_at: int, batch_bytes: int, *given: Any) -> None:
        self._batch = slice(batch_at, batch_at + batch_bytes)
        self._sequence = 0
        super().__init__(*given)

    def send(self, count: int) -> None:
        for which in range(self._sent_at, self._sent_at + count):
            frame = self._view[which * self._size : (which + 1) * self._size]
            set_sequence(frame[self._batch], self._sequence)
            self._sequence += self.step
        super().send(count)
