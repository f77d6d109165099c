"""Record batches as test input: valid ones, and broken in one chosen way.

Formats: KIP-98 (magic 2), KIP-32 (magic 1) and the message set before it (magic 0).
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import cramjam
from crc32c import crc32c

from ..protocol.batch_writing import varint_of

OLD: Final = 1_600_000_000_000
"""A fixed record timestamp, in the past."""

TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
LOG_APPEND_TIME: Final = 0x08
NONE, GZIP, SNAPPY, LZ4, ZSTD = range(5)

_HEAD = struct.Struct(">qiibI")
_BODY = struct.Struct(">hiqqqhii")


@dataclass(frozen=True)
class Record:
    """One record; `delta` is its offset delta (its index when None)."""

    value: bytes | None = b"v"
    key: bytes | None = None
    timestamp: int = OLD
    delta: int | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()


def _sized(data: bytes | None) -> bytes:
    return varint_of(-1) if data is None else varint_of(len(data)) + data


def _record(record: Record, index: int, base_timestamp: int) -> bytes:
    body = b"\0" + varint_of(record.timestamp - base_timestamp)
    body += varint_of(index if record.delta is None else record.delta)
    body += _sized(record.key) + _sized(record.value) + varint_of(len(record.headers))
    for name, value in record.headers:
        body += _sized(name.encode()) + _sized(value)
    return _sized(body)


def _compress(codec: int, data: bytes) -> bytes:
    if codec == GZIP:
        return bytes(cramjam.gzip.compress(data))
    if codec == SNAPPY:
        header = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)
        block = bytes(cramjam.snappy.compress_raw(data))
        return header + struct.pack(">i", len(block)) + block
    if codec == LZ4:
        return _lz4(data)
    if codec == ZSTD:
        return bytes(cramjam.zstd.compress(data))
    return data


def _lz4(data: bytes) -> bytes:
    """An LZ4 frame of independent blocks of 64 KB: brokers refuse dependent ones, which cramjam makes."""
    frame = bytearray(b"\x04\x22\x4d\x18\x60\x40\x82")
    for at in range(0, len(data), 1 << 16):
        block = bytes(cramjam.lz4.compress_block(data[at : at + (1 << 16)], store_size=False))
        frame += struct.pack("<I", len(block)) + block
    return bytes(frame) + b"\0\0\0\0"


def _uncompress(codec: int, data: bytes) -> bytes:
    if codec == GZIP:
        return bytes(cramjam.gzip.decompress(data))
    if codec == SNAPPY and data.startswith(b"\x82SNAPPY\x00"):
        out, at = b"", 16
        while at < len(data):
            (size,) = struct.unpack_from(">i", data, at)
            out += bytes(cramjam.snappy.decompress_raw(data[at + 4 : at + 4 + size]))
            at += 4 + size
        return out
    if codec == SNAPPY:
        return bytes(cramjam.snappy.decompress_raw(data))
    if codec == LZ4:
        return bytes(cramjam.lz4.decompress(data))
    if codec == ZSTD:
        return bytes(cramjam.zstd.decompress(data))
    return data


def records(count: int, timestamp: int = OLD, step: int = 0, size: int = 1) -> list[Record]:
    """`count` records of `size` bytes, `step` milliseconds apart."""
    return [Record(value=b"v" * size, timestamp=timestamp + index * step) for index in range(count)]


def batch(
    content: int | Sequence[Record] = 1,
    *,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
    codec: int = NONE,
    attributes: int = 0,
    base_offset: int = 0,
    partition_leader_epoch: int = -1,
    magic: int = 2,
    count: int | None = None,
    last_offset_delta: int | None = None,
    base_timestamp: int | None = None,
    max_timestamp: int | None = None,
    length_error: int = 0,
    bad_crc: bool = False,
    extra: bytes = b"",
) -> bytes:
    """A batch of magic 2. `count`, `last_offset_delta`, `max_timestamp`, … replace the right values."""
    items = records(content) if isinstance(content, int) else list(content)
    first = base_timestamp if base_timestamp is not None else (items[0].timestamp if items else OLD)
    newest = max((item.timestamp for item in items), default=-1) if max_timestamp is None else max_timestamp
    payload = b"".join(_record(item, index, first) for index, item in enumerate(items)) + extra
    body = _BODY.pack(
        codec | attributes,
        len(items) - 1 if last_offset_delta is None else last_offset_delta,
        first,
        newest,
        producer_id,
        producer_epoch,
        sequence,
        len(items) if count is None else count,
    ) + _compress(codec, payload)
    crc = crc32c(body) ^ (0xFF if bad_crc else 0)
    length = len(body) + 9 + length_error
    return _HEAD.pack(base_offset, length, partition_leader_epoch, magic, crc) + body


def control_batch(kind: int = 1, *, producer_id: int = 1, producer_epoch: int = 0) -> bytes:
    """An end-of-transaction marker (`kind` 1 commits, 0 aborts), as only a broker may write it."""
    marker = Record(key=struct.pack(">hh", 0, kind), value=struct.pack(">hi", 0, 0))
    return batch(
        [marker],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        attributes=CONTROL | TRANSACTIONAL,
    )


def message_set(
    items: Iterable[Record], *, magic: int = 1, codec: int = NONE, bad_crc: bool = False
) -> bytes:
    """Messages of magic 0 or 1, wrapped in a compressed one when `codec` is given."""
    inner = b"".join(_message(item, index, magic, NONE, bad_crc) for index, item in enumerate(items))
    if codec == NONE:
        return inner
    count = sum(1 for _ in old_messages(inner))
    return _message(Record(value=_compress(codec, inner)), count - 1, magic, codec, bad_crc)


def _message(item: Record, offset: int, magic: int, codec: int, bad_crc: bool) -> bytes:
    body = struct.pack(">bb", magic, codec)
    if magic == 1:
        body += struct.pack(">q", item.timestamp)
    for data in (item.key, item.value):
        body += struct.pack(">i", -1) if data is None else struct.pack(">i", len(data)) + data
    crc = zlib.crc32(body) ^ (0xFF if bad_crc else 0)
    return struct.pack(">qiI", offset, len(body) + 4, crc) + body


def old_messages(data: bytes) -> Iterable[tuple[int, int]]:
    """Offset and magic of each message of a message set."""
    at = 0
    while at + 17 <= len(data):
        offset, size = struct.unpack_from(">qi", data, at)
        yield offset, data[at + 16]
        at += 12 + size


def describe(data: bytes | None) -> list[dict[str, Any]] | None:
    """Fetched bytes as one dict for each batch; an incomplete last batch as its number of bytes."""
    if data is None:
        return None
    found: list[dict[str, Any]] = []
    at = 0
    while at < len(data):
        rest = len(data) - at
        size = struct.unpack_from(">i", data, at + 8)[0] + 12 if rest >= 17 else rest + 1
        if size > rest:
            found.append({"incomplete": rest})
            break
        found.append(_describe_batch(data[at : at + size]))
        at += size
    return found


def _describe_batch(data: bytes) -> dict[str, Any]:
    offset, length, leader_epoch, magic, crc = _HEAD.unpack_from(data)
    if magic < 2:
        return {"offset": offset, "size": length + 12, "magic": magic}
    attributes, last_delta, base_time, max_time, producer, epoch, sequence, count = _BODY.unpack_from(
        data, 21
    )
    return {
        "base_offset": offset,
        "last_offset": offset + last_delta,
        "size": length + 12 if attributes & 7 == 0 else "<compressed>",
        "partition_leader_epoch": leader_epoch,
        "magic": magic,
        "crc": "ok" if crc32c(data[21:]) == crc else "bad",
        "attributes": attributes,
        "base_timestamp": base_time,
        "max_timestamp": max_time,
        "producer_id": producer,
        "producer_epoch": epoch,
        "base_sequence": sequence,
        "count": count,
        "payload_size": len(_uncompress(attributes & 7, data[61:])),
    }
