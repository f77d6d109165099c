"""Writers and readers of the protocol's primitive types (Kafka protocol guide, KIP-482)."""

import base64
import codecs
import re
import struct
from collections.abc import Callable, Iterable, Sequence, Sized
from typing import Final, TypeVar
from uuid import UUID

T = TypeVar("T")

Records = Sequence[bytes | bytearray | memoryview]
"""Record batches, in order, each as it is in the log."""

SPLICE_BYTES: Final = 16384
"""Records of at least this size are given to the socket as they are, and not copied into the frame."""

_SHARED_SPLICE_BYTES: Final = 1024


class Shared(list[T]):
    """An array that occurs many times in an answer: it is encoded once."""

    __slots__ = ("_encoded",)

    def __init__(self, values: Iterable[T] = ()) -> None:
        super().__init__(values)
        self._encoded: tuple[Callable[[T, bytearray], None], bytes] | None = None

    def write(self, out: bytearray, write_one: Callable[[T, bytearray], None]) -> None:
        """Appends its values, each written by `write_one`."""
        if self._encoded is None or self._encoded[0] is not write_one:
            encoded = bytearray()
            for value in self:
                write_one(value, encoded)
            self._encoded = write_one, bytes(encoded)
        data = self._encoded[1]
        if len(data) >= _SHARED_SPLICE_BYTES and isinstance(out, FrameBuffer):
            out.splices.append((len(out), (data,)))
            out.shared_bytes += len(data)
        else:
            out += data


class FrameBuffer(bytearray):
    """An answer that is being encoded. Large records and shared arrays are not copied into it: `splices` has
    their places, and `shared_bytes` is how many of these are not records. `part` is where the next part of a
    large answer ends."""

    __slots__ = ("part", "shared_bytes", "splices")

    def __init__(self, *args: int) -> None:
        super().__init__(*args)
        self.splices: list[tuple[int, Records]] = []
        self.shared_bytes = 0
        self.part = 0

    def buffers(self) -> list[bytes | bytearray | memoryview]:
        """The answer as the buffers to send, in order."""
        view, start = memoryview(self), 0
        out: list[bytes | bytearray | memoryview] = []
        for end, records in self.splices:
            out.append(view[start:end])
            out += records
            start = end
        if start < len(view):
            out.append(view[start:])
        return out


_INT16: Final = struct.Struct(">h").pack
_INT32: Final = struct.Struct(">i").pack
_NULL_INT16: Final = _INT16(-1)
_NULL_INT32: Final = _INT32(-1)


_ALONE: Final = re.compile(rb"[\x80-\xc1\xf5-\xff]+")
"""Bytes that begin no character, each of which becomes one replacement. Matched together, because each call
is expensive."""


def _as_java(error: UnicodeError) -> tuple[str, int]:
    """One replacement character for each sequence that Java replaces by one: the same as in Python, except
    for encoded surrogates."""
    assert isinstance(error, UnicodeDecodeError)
    data, start = error.object, error.start
    alone = _ALONE.match(data, start)
    if alone:
        return "\ufffd" * (alone.end() - start), alone.end()
    if data[start] != 0xED or not 0xA0 <= (data[start + 1] if start + 1 < len(data) else 0) <= 0xBF:
        return "\ufffd", error.end
    third = start + 2
    return "\ufffd", third + (third < len(data) and data[third] & 0xC0 == 0x80)


codecs.register_error("mockbroker.java", _as_java)


def text_of(data: bytes | bytearray | memoryview) -> str:
    """Text as Kafka's Java code reads it: what is not UTF-8 is replaced (`Readable.readString`)."""
    return str(data, "utf-8", "mockbroker.java")


_HIGHEST: Final = (1 << 31) - 1


def write_uvarint(out: bytearray, value: int) -> None:
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def read_uvarint(data: bytes | bytearray | memoryview, offset: int) -> tuple[int, int]:
    """The value and the offset after it. IndexError if the bytes end early, ValueError beyond five bytes.

    As in `ByteUtils.readUnsignedVarint`, bits above the 32nd are lost, and the 32nd makes the value negative.
    """
    first = data[offset]
    return (first, offset + 1) if first < 0x80 else finish_uvarint(data, offset + 1, first)


def finish_uvarint(data: bytes | bytearray | memoryview, offset: int, first: int) -> tuple[int, int]:
    """`read_uvarint` after a first byte of 0x80 or more. The lowest value becomes 2**31, because a length
    that counts from 1 wraps to the highest."""
    value, shift = first & 0x7F, 7
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift > 28:
            raise ValueError("a varint of more than five bytes")
    if shift == 28:
        value &= 0xFFFFFFFF
        if value > _HIGHEST + 1:
            value -= 1 << 32
    return value, offset


MOST_TAGS: Final = 16
"""More unknown tagged fields than this in one place are refused where nothing else limits them. Kafka has no
such limit, and none of its messages has as many."""


def skip_tags(data: bytes | bytearray | memoryview, offset: int, most: int = MOST_TAGS) -> int:
    """The offset after unknown tagged fields, of which there may be `most`. IndexError or ValueError if they
    end early, or are more."""
    if data[offset] == 0:
        return offset + 1
    count, offset = read_uvarint(data, offset)
    if not 0 <= count <= most:
        raise ValueError(f"{count} tagged fields: {most} is the most")
    for _ in range(count):
        _, offset = read_uvarint(data, offset)
        size, offset = read_uvarint(data, offset)
        offset = skip(data, offset, size)
    return offset


def skip(data: bytes | bytearray | memoryview, offset: int, size: int) -> int:
    """The offset after `size` bytes. ValueError if that is beyond the end, or before `offset`."""
    if not 0 <= size <= len(data) - offset:
        raise ValueError(f"{size} bytes announced, {len(data) - offset} left")
    return offset + size


MOST_DECOMPRESSED: Final = 256 << 20
"""The largest size to which anything is decompressed at once, whoever wrote it."""
MOST_TEXT: Final = 0x7FFF
"""The most bytes of a text whose length has 16 bits."""


class TextTooLongError(ValueError):
    """Text with more than MOST_TEXT bytes in a version that is not flexible."""


def short_uuid(value: UUID) -> str:
    """In base 64, as Kafka writes ids (`Uuid.toString`)."""
    return base64.urlsafe_b64encode(value.bytes).decode().rstrip("=")


def uuid_of_short(text: str) -> UUID | None:
    """The id that is written like that, None if none is (`Uuid.fromString`)."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except ValueError:
        return None
    return UUID(bytes=data) if len(data) == 16 else None


def write_string(out: bytearray, value: str | None) -> None:
    """TextTooLongError."""
    if value is None:
        out += _NULL_INT16
        return
    data = value.encode()
    try:
        out += _INT16(len(data))
    except struct.error:
        raise TextTooLongError(f"a text of {len(data)} bytes: {MOST_TEXT} is the most") from None
    out += data


def write_compact_string(out: bytearray, value: str | None) -> None:
    if value is None:
        out.append(0)
        return
    data = value.encode()
    write_uvarint(out, len(data) + 1)
    out += data


def write_bytes(out: bytearray, value: bytes | None) -> None:
    if value is None:
        out += _NULL_INT32
        return
    out += _INT32(len(value))
    out += value


def write_compact_bytes(out: bytearray, value: bytes | None) -> None:
    if value is None:
        out.append(0)
        return
    write_uvarint(out, len(value) + 1)
    out += value


def write_array_length(out: bytearray, value: Sized | None) -> None:
    out += _NULL_INT32 if value is None else _INT32(len(value))


def _append_records(out: bytearray, records: Records, size: int) -> None:
    if size >= SPLICE_BYTES and isinstance(out, FrameBuffer):
        out.splices.append((len(out), records))
        return
    for batch in records:
        out += batch


def write_records(out: bytearray, records: Records | None) -> None:
    if records is None:
        out += _NULL_INT32
        return
    size = sum(map(len, records))
    out += _INT32(size)
    _append_records(out, records, size)


def write_compact_records(out: bytearray, records: Records | None) -> None:
    if records is None:
        out.append(0)
        return
    size = sum(map(len, records))
    write_uvarint(out, size + 1)
    _append_records(out, records, size)
