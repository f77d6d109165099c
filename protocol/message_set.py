"""Messages of magic 0 and 1, as in logs before Kafka 0.11 (`LegacyRecord.java`).

A message stands alone, or wraps a compressed set of messages, whose offsets count from 0 in magic 1 (KIP-31)
and are absolute in magic 0. The wrapper has the offset of the last of them.
"""

import struct
import zlib
from collections.abc import Iterator
from typing import Final, NamedTuple

from .compression import Compression, decompress
from .record_batch import COMPRESSION_MASK, LOG_APPEND_TIME, CorruptBatchError, Record

_HEAD: Final = struct.Struct(">qiIbb")
_INT32: Final = struct.Struct(">i").unpack_from
_INT64: Final = struct.Struct(">q").unpack_from
_CRC_FROM: Final = 16
_NO_TIMESTAMP: Final = -1


class Message(NamedTuple):
    """One message; `size` counts all of its bytes, `timestamp` is -1 in magic 0."""

    offset: int
    size: int
    crc: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def codec(self) -> int:
        return self.attributes & COMPRESSION_MASK


def read_message(data: bytes | memoryview) -> Message:
    """The message at the start. CorruptBatchError if its lengths contradict each other."""
    try:
        offset, length, crc, magic, attributes = _HEAD.unpack_from(data)
        at = _HEAD.size
        timestamp = _NO_TIMESTAMP
        if magic == 1:
            (timestamp,) = _INT64(data, at)
            at += 8
        key, at = _field(data, at)
        value, at = _field(data, at)
    except struct.error as error:
        raise CorruptBatchError(f"a message is cut short: {error}") from None
    if at != length + 12:
        raise CorruptBatchError(f"a message of {length + 12} bytes whose fields take {at}")
    return Message(offset, at, crc, magic, attributes, timestamp, key, value)


def crc_matches(data: bytes | memoryview, message: Message) -> bool:
    """Checks the CRC-32, which covers everything from the magic on."""
    return zlib.crc32(data[_CRC_FROM : message.size]) == message.crc


def records(message: Message) -> list[Record]:
    """The message itself, or those that it wraps. ValueError if they are malformed."""
    if message.codec == Compression.NONE:
        return [Record(message.offset, message.timestamp, message.key, message.value)]
    inner = list(_inner(memoryview(decompress(message.codec, message.value or b""))))
    first = message.offset - inner[-1].offset if message.magic == 1 and inner else 0
    stamped = message.attributes & LOG_APPEND_TIME
    return [
        Record(first + each.offset, message.timestamp if stamped else each.timestamp, each.key, each.value)
        for each in inner
    ]


def _inner(data: memoryview) -> Iterator[Message]:
    while data:
        message = read_message(data)
        yield message
        data = data[message.size :]


def _field(data: bytes | memoryview, at: int) -> tuple[bytes | None, int]:
    (size,) = _INT32(data, at)
    at += 4
    if size < 0:
        return None, at
    if at + size > len(data):
        raise CorruptBatchError(f"a field of {size} bytes where {len(data) - at} are left")
    return bytes(data[at : at + size]), at + size
