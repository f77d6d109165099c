"""Batches as logs keep them whose topic has a format from before 0.11: a message of magic 0 or 1 for each
record, or one around all of them if they are compressed (`LogValidator.java`, `MemoryRecordsBuilder.java`).
"""

import struct
from collections.abc import Generator, Sequence
from typing import Final

from ..portions import MANY, at_once, portions
from ..protocol.batch_writing import varint_of
from ..protocol.compression import Compression
from ..protocol.filtering import StoredRecord, stored_records
from ..protocol.message_set import making_set, message_of, placed
from ..protocol.record_batch import (
    COMPRESSION_MASK,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    OVERHEAD_BYTES,
    Batch,
    BatchHeader,
    OldBatch,
    Record,
    field,
    header_of,
    spans,
)

_NO_TIMESTAMP: Final = -1
_NOBODY: Final = (-1, -1, -1)
_CRC: Final = slice(12, 16)
_OFFSET: Final = struct.Struct(">q")


class NotKeptError(ValueError):
    """Records with headers, or compressed in a way that old messages don't have."""


def keeping(
    batch: Batch, magic: int, sent: memoryview | None = None
) -> Generator[None, None, list[OldBatch]]:
    """What a log of magic 0 or 1 keeps of a batch of magic 2 that has its offsets, found out in parts. `sent`
    is the message of magic 1 that it keeps for that. NotKeptError."""
    header = header_of(batch)
    if header.attributes & COMPRESSION_MASK == Compression.ZSTD:
        raise NotKeptError("zstd")
    kind = LOG_APPEND_TIME if header.attributes & LOG_APPEND_TIME and magic else 0
    records: list[Record] = []
    bodies: list[bytes] = []
    for some in portions(spans(header, batch), MANY):
        for body, _, key_at, end, offset, timestamp in some:
            key, at = field(body, key_at)
            value, at = field(body, at)
            if body[at]:
                raise NotKeptError("a record with headers")
            records.append(Record(offset, timestamp if magic else _NO_TIMESTAMP, key, value))
            bodies.append(bytes(body[key_at:end]))
        yield
    if header.attributes & COMPRESSION_MASK:
        return [(yield from _around(records, bodies, header, magic, sent=sent))]
    made: list[OldBatch] = []
    for few in portions(list(zip(records, bodies, strict=True)), MANY):
        made += [_alone(record, rest, magic, kind) for record, rest in few]
        yield
    return made


def move(messages: Sequence[OldBatch], offset: int) -> None:
    """Gives the messages of a set other offsets, from `offset` on."""
    by = offset - messages[0].header.base_offset
    for each in messages if by else ():
        head = each.header
        each.header = head._replace(base_offset=head.base_offset + by)
        if head.attributes & COMPRESSION_MASK and not head.magic:
            again = with_kept(each, list(stored_records(each)), None)
            each[:], each.header, each.body = again, again.header, again.body
        _OFFSET.pack_into(each, 0, head.base_offset + by + head.last_offset_delta)


def with_kept(batch: OldBatch, kept: Sequence[StoredRecord], horizon_ms: int | None) -> OldBatch:
    """The batch with only these records, at least one; its tombstones stay until `horizon_ms`."""
    head = batch.header
    records = [
        Record(each.offset, each.timestamp, each.key, field(each.rest, field(each.rest, 0)[1])[0])
        for each in kept
    ]
    bodies = [each.rest for each in kept]
    if head.attributes & COMPRESSION_MASK:
        return at_once(_around(records, bodies, head, head.magic, horizon_ms))
    return _alone(records[0], bodies[0], head.magic, head.attributes & LOG_APPEND_TIME, horizon_ms)


def _alone(record: Record, rest: bytes, magic: int, kind: int, horizon_ms: int | None = None) -> OldBatch:
    """A message of its own; `rest` is the record in a batch, from the key on."""
    made = OldBatch(message_of(record, magic, kind))
    made.body = _in_batch(record, rest, record.offset, record.timestamp if horizon_ms is None else horizon_ms)
    return _described(made, [record], magic, kind, horizon_ms)


def _around(
    records: Sequence[Record],
    bodies: Sequence[bytes],
    like: BatchHeader,
    magic: int,
    horizon_ms: int | None = None,
    *,
    sent: memoryview | None = None,
) -> Generator[None, None, OldBatch]:
    """A message around these, compressed and stamped as `like` says, or as it was `sent`."""
    codec, stamped = like.attributes & COMPRESSION_MASK, like.attributes & LOG_APPEND_TIME and magic
    first = records[0]
    if sent is None:
        stamp = like.max_timestamp if stamped else None
        made = OldBatch((yield from making_set(records, magic, codec, stamp)))
    else:
        kind = LOG_APPEND_TIME if stamped else 0
        made = OldBatch(placed(sent, records[-1].offset, like.max_timestamp, kind))
    base = first.timestamp if horizon_ms is None else horizon_ms
    body = bytearray()
    for some in portions(list(zip(records, bodies, strict=True)), MANY):
        body += b"".join([_in_batch(record, rest, first.offset, base) for record, rest in some])
        yield
    made.body = bytes(body)
    return _described(made, records, magic, codec | (LOG_APPEND_TIME if stamped else 0), horizon_ms)


def _in_batch(record: Record, rest: bytes, base_offset: int, base_timestamp: int) -> bytes:
    one = b"\0" + varint_of(record.timestamp - base_timestamp) + varint_of(record.offset - base_offset) + rest
    return varint_of(len(one)) + one


def _described(
    made: OldBatch, records: Sequence[Record], magic: int, attributes: int, horizon_ms: int | None
) -> OldBatch:
    first = records[0]
    base = first.timestamp
    if horizon_ms is not None:
        base, attributes = horizon_ms, attributes | DELETE_HORIZON
    made.header = BatchHeader(
        first.offset,
        len(made) - OVERHEAD_BYTES,
        -1,
        magic,
        int.from_bytes(made[_CRC]),
        attributes,
        records[-1].offset - first.offset,
        base,
        max([each.timestamp for each in records]),
        *_NOBODY,
        len(records),
    )
    return made
