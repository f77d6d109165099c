"""Record batches of magic 2 as they come from clients (`DefaultRecordBatch.java`)."""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from crc32c import crc32c

from ..errors import MockBrokerError
from .compression import decompress

HEADER: Final = struct.Struct(">qiibIhiqqqhii")
HEADER_BYTES: Final = HEADER.size
OVERHEAD_BYTES: Final = 12
"""Base offset and length, which the length field of a batch does not count."""
_unpack: Final = HEADER.unpack_from
_new: Final = tuple.__new__
_PLACE: Final = struct.Struct(">qii")
_INT32: Final = struct.Struct(">i").unpack_from
MAGIC: Final = 2
_TO_MAGIC: Final = 5
_LEAST_LENGTH: Final = 14
"""The shortest batch length that ever existed: that of an empty message of magic 0."""

ATTRIBUTES_AT: Final = 22
"""Where the attributes are in a batch."""
COMPRESSION_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40
_LONG: Final = 0x80
"""The first byte of a varint that has more than one."""
_KEPT_ATTRIBUTES: Final = COMPRESSION_MASK | TRANSACTIONAL | CONTROL | DELETE_HORIZON


Batch = bytearray | memoryview
"""A whole batch that is writable."""


MAX_RECORDS: Final = 250_000
"""The most records in one batch: with more, a broker would be busy for longer than others should wait."""


class CorruptBatchError(MockBrokerError, ValueError):
    """Bytes that are not a batch, or whose CRC does not match: CORRUPT_MESSAGE."""


class InvalidRecordError(ValueError):
    """A batch that contradicts itself: INVALID_RECORD."""


class BatchHeader(NamedTuple):
    """The 61 bytes before the records."""

    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int


class OldBatch(bytearray):
    """A message of magic 0 or 1 in a log, alone or around compressed ones, with what a batch would say of it:
    `header`, and as `body` its records as in a batch that is not compressed."""

    __slots__ = ("body", "header")
    body: bytes
    header: BatchHeader


class Record(NamedTuple):
    """One record: offset and timestamp are absolute, key and value are as sent."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None


def parse_header(data: bytes | bytearray | memoryview) -> BatchHeader:
    """The header at the start of `data`. CorruptBatchError if it is too short."""
    if type(data) is OldBatch:
        return data.header
    if len(data) < HEADER_BYTES:
        raise CorruptBatchError(f"{len(data)} bytes are shorter than a batch header of {HEADER_BYTES}")
    return BatchHeader._make(HEADER.unpack_from(data))


def next_batch(data: bytes | memoryview) -> int:
    """The size of the batch at the start, 0 if it is incomplete (`ByteBufferLogInputStream.java`).

    CorruptBatchError with Kafka's message.
    """
    if len(data) < OVERHEAD_BYTES:
        return 0
    (length,) = _INT32(data, 8)
    if length < _LEAST_LENGTH:
        raise CorruptBatchError(
            f"Record size {length} is less than the minimum record overhead ({_LEAST_LENGTH})"
        )
    if len(data) < OVERHEAD_BYTES + _TO_MAGIC:
        return 0
    magic = data[16] - 256 if data[16] > 127 else data[16]
    if not 0 <= magic <= 2:
        raise CorruptBatchError(f"Invalid magic found in record: {magic}")
    return length + OVERHEAD_BYTES if length + OVERHEAD_BYTES <= len(data) else 0


def common(data: bytes | memoryview) -> BatchHeader | None:
    """The header, if `data` is one whole batch of magic 2 and nothing else."""
    if len(data) < HEADER_BYTES:
        return None
    header: BatchHeader = _new(BatchHeader, _unpack(data))
    return header if header[3] == 2 and header[1] + OVERHEAD_BYTES == len(data) else None


def header_of(data: bytes | bytearray | memoryview) -> BatchHeader:
    """The header of a whole batch."""
    if type(data) is OldBatch:
        return data.header
    return _new(BatchHeader, _unpack(data))


def crc_matches(batch: Batch, header: BatchHeader) -> bool:
    """Checks the CRC-32C, which covers everything from the attributes on."""
    return crc32c(memoryview(batch)[21:]) == header[4]


def place(batch: Batch, base_offset: int, leader_epoch: int) -> None:
    """Sets the batch's place in the log; the CRC covers neither field."""
    _PLACE.pack_into(batch, 0, base_offset, len(batch) - OVERHEAD_BYTES, leader_epoch)


def stamp(batch: Batch, max_timestamp: int, append_time: bool) -> None:
    """Sets the largest timestamp, which with LogAppendTime is the append time, and the CRC.

    Attribute bits without a meaning are cleared, as in `DefaultRecordBatch.setMaxTimestamp`.
    """
    batch[21] = 0
    batch[ATTRIBUTES_AT] = batch[ATTRIBUTES_AT] & _KEPT_ATTRIBUTES | (LOG_APPEND_TIME if append_time else 0)
    struct.pack_into(">q", batch, 35, max_timestamp)
    struct.pack_into(">I", batch, 17, crc32c(memoryview(batch)[21:]))


def is_whole(batch: bytes | bytearray | memoryview) -> bool:
    """Whether a batch is not cut off at the end, as the last one of a Fetch may be."""
    if type(batch) is OldBatch:
        return True
    return len(batch) >= HEADER_BYTES and len(batch) >= _INT32(batch, 8)[0] + OVERHEAD_BYTES


class RecordSpan(NamedTuple):
    """Where a record is in the decompressed `body` of its batch: from `start`, which is after its length,
    with the key at `key`, to `end`; and its offset and timestamp."""

    body: bytes | memoryview
    start: int
    key: int
    end: int
    offset: int
    timestamp: int


def spans(header: BatchHeader, data: bytes | bytearray | memoryview) -> Iterator[RecordSpan]:
    """The records of a batch. ValueError or IndexError if it is malformed."""
    body: bytes | memoryview
    if type(data) is OldBatch:
        body = data.body
    else:
        body = decompress(header.attributes & COMPRESSION_MASK, memoryview(data)[HEADER_BYTES:])
    stamped = header.attributes & LOG_APPEND_TIME
    end = 0
    for _ in range(header.record_count):
        size, start = varint(body, end)
        end = start + size
        if not start <= end <= len(body):
            raise ValueError(f"a record of {size} bytes where {len(body) - start} are left")
        time_delta, at = varint(body, start + 1)
        offset_delta, key = varint(body, at)
        time = header.max_timestamp if stamped else header.base_timestamp + time_delta
        yield RecordSpan(body, start, key, end, header.base_offset + offset_delta, time)


def records(data: bytes | bytearray | memoryview) -> Iterator[Record]:
    """The records of a batch. ValueError or IndexError if it is malformed."""
    for span in spans(parse_header(data), data):
        key, at = field(span.body, span.key)
        value, _ = field(span.body, at)
        yield Record(span.offset, span.timestamp, key, value)


def pairs(header: BatchHeader, data: Batch) -> Iterator[tuple[int, bytes | None, bytes | None]]:
    """Offset, key and value of each record of a batch, several times faster than `records`. ValueError or
    IndexError if it is malformed."""
    base, end = header.base_offset, HEADER_BYTES
    body: Batch | bytes = data
    if type(data) is OldBatch:
        body, end = data.body, 0
    elif header.attributes & COMPRESSION_MASK:
        body, end = bytes(decompress(header.attributes & COMPRESSION_MASK, memoryview(data)[end:])), 0
    for _ in range(header.record_count):
        size, start = varint(body, end)
        end = start + size
        if not start <= end <= len(body):
            raise ValueError(f"a record of {size} bytes where {len(body) - start} are left")
        delta, at = body[start + 2], start + 3
        if body[start + 1] >= _LONG or delta >= _LONG:
            _, at = varint(body, start + 1)
            delta, at = varint(body, at)
            delta <<= 1
        size = body[at]
        if size >= _LONG or size & 1:
            key, at = field(body, at)
        else:
            at += 1 + (size >> 1)
            key = bytes(body[at - (size >> 1) : at])
        value, _ = field(body, at)
        yield base + (delta >> 1), key, value


def record_list(header: BatchHeader, data: bytes) -> list[Record]:
    """What `records` gives, several times faster. ValueError or IndexError if it is malformed."""
    body, end = data, HEADER_BYTES
    if codec := header.attributes & COMPRESSION_MASK:
        body, end = bytes(decompress(codec, memoryview(data)[end:])), 0
    base_offset, base_time = header.base_offset, header.base_timestamp
    append_time = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    found: list[Record] = []
    key: bytes | None
    value: bytes | None
    try:
        for _ in range(header.record_count):
            size, start = varint(body, end)
            end = start + size
            if not start <= end <= len(body):
                raise ValueError(f"a record of {size} bytes where {len(body) - start} are left")
            delta, at = body[start + 1], start + 2
            if delta >= _LONG:
                delta, at = varint(body, start + 1)
            else:
                delta = (delta >> 1) ^ -(delta & 1)
            time = base_time + delta if append_time is None else append_time
            delta = body[at]
            if delta >= _LONG:
                delta, at = varint(body, at)
            else:
                delta, at = (delta >> 1) ^ -(delta & 1), at + 1
            size = body[at]
            if size >= _LONG or size & 1:
                key, at = field(body, at)
            else:
                at += 1 + (size >> 1)
                key = body[at - (size >> 1) : at]
            size = body[at]
            if size >= _LONG or size & 1:
                value, _ = field(body, at)
            else:
                value = body[at + 1 : at + 1 + (size >> 1)]
            found.append(_new(Record, (base_offset + delta, time, key, value)))
    except IndexError:
        return list(records(data))  # whose error says it as always
    return found


def varint(data: bytes | bytearray | memoryview, offset: int) -> tuple[int, int]:
    """A zigzag-decoded varint, and the offset after it."""
    byte = data[offset]
    if byte < _LONG:
        return (byte >> 1) ^ -(byte & 1), offset + 1
    value = shift = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << shift
        if byte < _LONG:
            return (value >> 1) ^ -(value & 1), offset
        shift += 7
        if shift > 63:
            raise ValueError("a varint of more than 64 bits")


def field(data: bytes | bytearray | memoryview, offset: int) -> tuple[bytes | None, int]:
    """A key or value, None for null, and the offset after it."""
    size, offset = varint(data, offset)
    if size < 0:
        return None, offset
    return bytes(data[offset : offset + size]), offset + size
