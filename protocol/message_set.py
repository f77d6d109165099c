"""Messages of magic 0 and 1, of clients and in logs before Kafka 0.11 (`LegacyRecord.java`).

A message stands alone, or wraps a compressed set of messages, whose offsets count from 0 in magic 1 (KIP-31)
and are absolute in magic 0. The wrapper has the offset of the last of them.
"""

import struct
import zlib
from collections.abc import Generator, Iterable, Iterator
from typing import Final, NamedTuple

from ..portions import MANY, at_once, portions
from .compression import Compression, compress, decompress
from .old_lz4 import with_old_checksum, with_right_checksum
from .primitives import MOST_DECOMPRESSED
from .record_batch import COMPRESSION_MASK, LOG_APPEND_TIME, CorruptBatchError, Record

_HEAD: Final = struct.Struct(">qiIbb")
_INT32: Final = struct.Struct(">i").unpack_from
_INT64: Final = struct.Struct(">q").unpack_from
_LONG: Final = struct.Struct(">q")
_PLACE: Final = struct.Struct(">qiI")
_CRC_AT: Final = 12
_CRC_FROM: Final = 16
_ATTRIBUTES_AT: Final = 17
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
    message, at = _read(data)
    if at != message.size:
        raise CorruptBatchError(f"a message of {message.size} bytes whose fields take {at}")
    return message


def message_in(data: bytes | memoryview) -> Message:
    """The message that has all of these bytes, even if some are behind its value. CorruptBatchError if they
    are too few."""
    return _read(data)[0]


def is_intact(data: bytes | memoryview) -> bool:
    """Whether the CRC-32 of the message that has all of these bytes is right."""
    return zlib.crc32(data[_CRC_FROM:]) == int.from_bytes(data[_CRC_AT:_CRC_FROM])


def _read(data: bytes | memoryview) -> tuple[Message, int]:
    """The message at the start, and where its value ends."""
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
    return Message(offset, length + 12, crc, magic, attributes, timestamp, key, value), at


def crc_matches(data: bytes | memoryview, message: Message) -> bool:
    """Checks the CRC-32, which covers everything from the magic on."""
    return zlib.crc32(data[_CRC_FROM : message.size]) == message.crc


def wrapped(message: Message, most: int = MOST_DECOMPRESSED) -> memoryview:
    """The messages in a compressed one. ValueError if it has none, TooLargeError if they have more than
    `most` bytes."""
    value = message.value
    if value is None:
        raise ValueError("a compressed message without a value")
    if message.codec == Compression.LZ4 and message.magic == 0:
        value = with_right_checksum(value)
    if message.codec > Compression.LZ4:
        raise ValueError(f"codec {message.codec} in a message of magic {message.magic}")
    return memoryview(decompress(message.codec, value, most))


def records(message: Message) -> list[Record]:
    """The message itself, or those that it wraps. ValueError if they are malformed."""
    if message.codec == Compression.NONE:
        return [Record(message.offset, message.timestamp, message.key, message.value)]
    inner = [each for each, _ in split(wrapped(message))]
    first = message.offset - inner[-1].offset if message.magic == 1 and inner else 0
    stamped = message.attributes & LOG_APPEND_TIME
    return [
        Record(first + each.offset, message.timestamp if stamped else each.timestamp, each.key, each.value)
        for each in inner
    ]


def split(data: memoryview) -> Iterator[tuple[Message, memoryview]]:
    """Each message, and its bytes. CorruptBatchError if one is malformed, or cut short."""
    while data:
        message = read_message(data)
        yield message, data[: message.size]
        data = data[message.size :]


def message_of(record: Record, magic: int, attributes: int = 0, *, offset: int | None = None) -> bytes:
    """One message; its offset is that of the record, unless it is given."""
    body = struct.pack(">bb", magic, attributes)
    if magic:
        body += _LONG.pack(record.timestamp)
    body += _sized(record.key) + _sized(record.value)
    place = record.offset if offset is None else offset
    return _PLACE.pack(place, len(body) + 4, zlib.crc32(body)) + body


def placed(data: bytes | memoryview, offset: int, timestamp: int, kind: int) -> bytearray:
    """The message of magic 1 with this offset, timestamp and `kind` of timestamp, and what else it has
    (`AbstractLegacyRecordBatch.setMaxTimestamp`)."""
    made = bytearray(data)
    _LONG.pack_into(made, 0, offset)
    was = made[_ATTRIBUTES_AT] & LOG_APPEND_TIME, *_INT64(made, _HEAD.size)
    if was != (kind, timestamp):
        made[_ATTRIBUTES_AT] = made[_ATTRIBUTES_AT] & COMPRESSION_MASK | kind
        _LONG.pack_into(made, _HEAD.size, timestamp)
        made[_CRC_AT:_CRC_FROM] = zlib.crc32(memoryview(made)[_CRC_FROM:]).to_bytes(4)
    return made


def set_of(records: Iterable[Record], magic: int, codec: int, stamped_ms: int | None = None) -> bytes:
    """A message for each record, compressed in another one if there is a `codec`, as Kafka writes them
    (`MemoryRecordsBuilder.java`). `stamped_ms` is the time at which all were appended, if that is their
    timestamp."""
    return at_once(making_set(records, magic, codec, stamped_ms))


def making_set(
    records: Iterable[Record], magic: int, codec: int, stamped_ms: int | None = None
) -> Generator[None, None, bytes]:
    """As `set_of`, in parts."""
    kind = LOG_APPEND_TIME if stamped_ms is not None and magic else 0
    made: list[bytes] = []
    first = last = newest = None
    for some in portions(records, MANY):
        items = some if stamped_ms is None else [each._replace(timestamp=stamped_ms) for each in some]
        if first is None:
            first = items[0].offset if magic and codec else 0
        last = items[-1].offset
        most = max(each.timestamp for each in items)
        newest = most if newest is None else max(newest, most)
        shift = first if codec else 0
        made += [message_of(each, magic, kind, offset=each.offset - shift) for each in items]
        yield
    inner = b"".join(made)
    if codec == Compression.NONE or last is None or newest is None:
        return inner
    value = compress(codec, inner)
    if codec == Compression.LZ4 and not magic:
        value = with_old_checksum(value)
    return message_of(Record(last, newest, None, value), magic, codec | kind)


def _field(data: bytes | memoryview, at: int) -> tuple[bytes | None, int]:
    (size,) = _INT32(data, at)
    at += 4
    if size < 0:
        return None, at
    if at + size > len(data):
        raise CorruptBatchError(f"a field of {size} bytes where {len(data) - at} are left")
    return bytes(data[at : at + size]), at + size


def _sized(data: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if data is None else len(data).to_bytes(4, "big") + data
