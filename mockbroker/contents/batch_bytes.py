"""What each byte of a record batch means (`DefaultRecordBatch.java`, `DefaultRecord.java`), or of a message
from before 0.11 (`LegacyRecord.java`)."""

import struct
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from ..protocol import record_batch
from ..protocol.compression import Compression
from ..protocol.record_batch import (
    COMPRESSION_MASK,
    CONTROL,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    OldBatch,
)

if TYPE_CHECKING:
    from ..protocol.record_batch import Batch

_FORMATS: Final = HEADER.format.removeprefix(">")
_SIZES: Final = {"q": 8, "i": 4, "I": 4, "h": 2, "b": 1}
_OLD: Final = (
    ("offset", "q"),
    ("size", "i"),
    ("crc", "I"),
    ("magic", "b"),
    ("attributes", "b"),
    ("timestamp", "q"),
)
_MARKS: Final = {
    TRANSACTIONAL: "transactional",
    CONTROL: "control",
    DELETE_HORIZON: "delete horizon",
}
_SHOWN_BYTES: Final = 100


class Part(NamedTuple):
    """`size` bytes of a batch, from `at` on, and their value in words. `record` is which of the batch's
    records it belongs to, from 0; None for what all records have in common."""

    record: int | None
    name: str
    at: int
    size: int
    value: str


def parts(batch: "Batch") -> Iterator[Part]:
    """One after the other. Records that are compressed together are one part. ValueError or IndexError if the
    batch is malformed."""
    if type(batch) is OldBatch:
        yield from _message(batch)
        return
    header = record_batch.header_of(batch)
    at = 0
    for name, kind, value in zip(BatchHeader._fields, _FORMATS, header, strict=True):
        yield Part(None, name.replace("_", " "), at, _SIZES[kind], _told(name, value))
        at += _SIZES[kind]
    compression = Compression(header.attributes & COMPRESSION_MASK)
    if compression is not Compression.NONE:
        told = f"{header.record_count} records, compressed with {compression.name.lower()}"
        yield Part(None, "records", HEADER_BYTES, len(batch) - HEADER_BYTES, told)
        return
    for record in range(header.record_count):
        at = yield from _record(batch, record, at, header)


def _message(message: OldBatch) -> Iterator[Part]:
    """Messages that are compressed together are its value."""
    at = 0
    for name, kind in _OLD:
        if name != "timestamp" or message.header.magic:
            (value,) = struct.unpack_from(f">{kind}", message, at)
            yield Part(None, name, at, _SIZES[kind], _told(name, value))
            at += _SIZES[kind]
    for name in ("key", "value"):
        (size,) = struct.unpack_from(">i", message, at)
        at = yield from _sized(message, None, name, at, at + 4, size)


def _told(name: str, value: int) -> str:
    if name == "crc":
        return f"0x{value:08x}"
    if name == "attributes":
        stamp = "LogAppendTime" if value & LOG_APPEND_TIME else "CreateTime"
        compression = f"compression {Compression(value & COMPRESSION_MASK).name.lower()}"
        return ", ".join([compression, stamp, *(word for mark, word in _MARKS.items() if value & mark)])
    return str(value)


def _record(batch: "Batch", record: int, at: int, header: BatchHeader) -> Generator[Part, None, int]:
    """Returns where the next one begins."""
    size, start = record_batch.varint(batch, at)
    yield Part(record, "length", at, start - at, str(size))
    yield Part(record, "attributes", start, 1, str(batch[start]))
    at = start + 1
    for name, base in (("timestamp delta", header.base_timestamp), ("offset delta", header.base_offset)):
        delta, after = record_batch.varint(batch, at)
        yield Part(record, name, at, after - at, f"{delta}, which is {base + delta}")
        at = after
    for name in ("key", "value"):
        at = yield from _field(batch, record, name, at)
    count, after = record_batch.varint(batch, at)
    yield Part(record, "header count", at, after - at, str(count))
    for _ in range(count):
        for name in ("header key", "header value"):
            after = yield from _field(batch, record, name, after)
    return start + size


def _field(batch: "Batch", record: int, name: str, at: int) -> Generator[Part, None, int]:
    size, start = record_batch.varint(batch, at)
    return (yield from _sized(batch, record, name, at, start, size))


def _sized(
    batch: "Batch", record: int | None, name: str, at: int, start: int, size: int
) -> Generator[Part, None, int]:
    """Its length, and what it is. Returns where the next one begins."""
    yield Part(record, f"{name} length", at, start - at, str(size) if size >= 0 else "-1: null")
    if size <= 0:
        return start
    text = bytes(batch[start : start + min(size, _SHOWN_BYTES)]).decode(errors="replace")
    yield Part(record, name, start, size, text + "…" * (size > _SHOWN_BYTES))
    return start + size
