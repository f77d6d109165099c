"""Bytes of the Kafka protocol: a writer, a bounds-checked reader and one blocking connection."""

from __future__ import annotations

import socket
import ssl
import struct
from functools import cache
from typing import Any, Final, Self

CORRELATION_AT: Final = 8
"""Where a request frame holds its correlation id, counted from the length field."""

PATIENCE_SECONDS: Final = 30
"""How long any single read or write may take."""

_NEWEST: Final = 1 << 15
_HEADER = struct.Struct(">ihhi")
CORRELATION = struct.Struct(">i")


class WrongAnswerError(Exception):
    """The broker's answer is not what the protocol or the scenario demands."""


class Writer:
    """Builds one request frame; `flexible` chooses compact lengths and tagged fields."""

    def __init__(self, key: int, version: int, *, flexible: bool) -> None:
        self.version = version
        self.flexible = False
        self.frame = bytearray(_HEADER.pack(0, key, version, 0))
        self.string("bench")  # the client id is never compact
        self.flexible = flexible
        self.tags()

    def put(self, layout: str, *values: Any, since: int = 0, until: int = _NEWEST) -> Self:
        """Writes fields, unless the version is before `since` or after `until`.

        Each letter is one field: b, h, i, q and d are numbers as `struct` has them, l a length, s a string, x
        bytes with their length, and t the tagged fields, which are empty and have no value.
        """
        if since <= self.version <= until:
            left = iter(values)
            for letter in layout:
                match letter:
                    case "t":
                        self.tags()
                    case "s":
                        self.string(next(left))
                    case "l":
                        self.length(next(left))
                    case "x":
                        self.data(next(left))
                    case number:
                        self.frame += struct.pack(f">{number}", next(left))
        return self

    def unsigned_varint(self, value: int) -> None:
        while value > 0x7F:
            self.frame.append(value & 0x7F | 0x80)
            value >>= 7
        self.frame.append(value)

    def length(self, value: int) -> None:
        """The length of an array or of bytes; -1 stands for null."""
        if self.flexible:
            self.unsigned_varint(value + 1)
        else:
            self.frame += struct.pack(">i", value)

    def string(self, value: str | None) -> None:
        raw = b"" if value is None else value.encode()
        size = -1 if value is None else len(raw)
        if self.flexible:
            self.unsigned_varint(size + 1)
        else:
            self.frame += struct.pack(">h", size)
        self.frame += raw

    def data(self, value: bytes) -> None:
        self.length(len(value))
        self.frame += value

    def tags(self) -> None:
        if self.flexible:
            self.frame.append(0)

    def done(self) -> bytearray:
        struct.pack_into(">i", self.frame, 0, len(self.frame) - 4)
        return self.frame


class Reader:
    """Reads one answer, length field included, starting after its correlation id."""

    def __init__(self, frame: bytes | memoryview) -> None:
        self.frame = memoryview(frame)
        self.at = 8
        self.version = 0
        self.flexible = False

    @property
    def correlation_id(self) -> int:
        return self._number(">i", 4)

    def _number(self, form: str, at: int) -> int:
        try:
            (value,) = struct.unpack_from(form, self.frame, at)
        except struct.error:
            raise WrongAnswerError(f"answer of {len(self.frame)} bytes ends too early") from None
        return int(value)

    def _next(self, letter: str) -> int:
        value = self._number(f">{letter}", self.at)
        self.at += struct.calcsize(letter)
        return value

    def int8(self) -> int:
        return self._next("b")

    def int16(self) -> int:
        return self._next("h")

    def int32(self) -> int:
        return self._next("i")

    def int64(self) -> int:
        return self._next("q")

    def skip(self, layout: str, *, since: int = 0) -> Self:
        """Passes over fields, in the letters of `Writer.put`, unless the version is before `since`."""
        if self.version >= since:
            for letter in layout:
                match letter:
                    case "t":
                        self.tags()
                    case "s":
                        self.string()
                    case number:
                        self._next(number)
        return self

    def single(self) -> Self:
        """The length of an array that has one entry. WrongAnswerError if it has others."""
        if (count := self.length()) != 1:
            raise WrongAnswerError(f"answer with {count} entries where one was asked for")
        return self

    def unsigned_varint(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self._next("B")
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise WrongAnswerError("varint of more than five bytes")

    def length(self) -> int:
        """The length of an array or of bytes; null counts as 0."""
        return max(0, self.unsigned_varint() - 1 if self.flexible else self.int32())

    def data(self, size: int) -> memoryview:
        if self.at + size > len(self.frame):
            raise WrongAnswerError(f"answer of {len(self.frame)} bytes ends too early")
        self.at += size
        return self.frame[self.at - size : self.at]

    def string(self) -> str:
        size = self.unsigned_varint() - 1 if self.flexible else self.int16()
        return bytes(self.data(max(0, size))).decode()

    def tags(self) -> None:
        if self.flexible:
            for _ in range(self.unsigned_varint()):
                self.unsigned_varint()
                self.data(self.unsigned_varint())


@cache
def _any_certificate() -> ssl.SSLContext:
    """Checks none: the brokers that are measured make their own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Connection:
    """One blocking connection, with TLS or without. The kernel keeps the time limit, so that a read is one
    system call."""

    def __init__(self, address: str, *, tls: bool = False) -> None:
        host, _, port = address.rpartition(":")
        self.socket = socket.create_connection((host.strip("[]"), int(port)), PATIENCE_SECONDS)
        if tls:
            try:
                self.socket = _any_certificate().wrap_socket(self.socket)
            except BaseException:
                self.socket.close()
                raise
        self.socket.settimeout(None)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        limit = struct.pack("@ll", PATIENCE_SECONDS, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        self._last_id = 0

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def receive(self, room: memoryview) -> int:
        """At least one byte into `room`; how many."""
        try:
            got = self.socket.recv_into(room)
        except (BlockingIOError, ssl.SSLWantReadError):
            raise WrongAnswerError(f"no answer within {PATIENCE_SECONDS} s") from None
        if not got:
            raise WrongAnswerError("connection closed by the broker")
        return got

    def answer_into(self, room: memoryview) -> int:
        """Read one answer, with nothing else in flight; its size in bytes, length field included."""
        return self.complete(room, self.receive(room))

    def complete(self, room: memoryview, filled: int) -> int:
        """Read the rest of an answer whose first `filled` bytes are in `room`; its size."""
        if not filled:
            raise WrongAnswerError("connection closed by the broker")
        while filled < 4:
            filled += self.receive(room[filled:])
        size = 4 + int(CORRELATION.unpack_from(room)[0])
        if size > len(room):
            raise WrongAnswerError(f"answer of {size} bytes, at most {len(room)} expected")
        while filled < size:
            filled += self.receive(room[filled:size])
        if filled > size:
            raise WrongAnswerError(f"{filled - size} bytes after the answer that nobody asked for")
        return size

    def call(self, frame: bytearray) -> Reader:
        """Send one request and read its answer. The correlation id is patched into `frame`."""
        self._last_id += 1
        CORRELATION.pack_into(frame, CORRELATION_AT, self._last_id)
        self.socket.sendall(frame)
        room = memoryview(bytearray(1 << 16))
        reader = Reader(room[: self.answer_into(room)])
        if reader.correlation_id != self._last_id:
            raise WrongAnswerError(f"correlation id {reader.correlation_id}, expected {self._last_id}")
        return reader
