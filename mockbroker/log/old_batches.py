"""Batches as logs keep them whose topic has a format from before 0.11 (`LogValidator.java`,
`MemoryRecordsBuilder.java`): a message of magic 0 or 1 for each record, or one around all that are compressed.
"""

from collections.abc import Sequence

from ..protocol.batch_writing import varint_of
from ..protocol.filtering import StoredRecord, stored_records
from ..protocol.message_set import message_of, set_of
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
)

_NO_TIMESTAMP = -1
_NOBODY = (-1, -1, -1)
_CRC = slice(12, 16)


def kept_as(batch: Batch, magic: int) -> list[OldBatch]:
    """What a log of magic 0 or 1 keeps of a batch of magic 2 that has its offsets. NotConvertibleError if it is
    compressed in a way that old messages don't have."""
    header = header_of(batch)
    found = list(stored_records(batch))
    if header.attributes & COMPRESSION_MASK:
        return [_made(header, found, magic)]
    return [_made(header, [each], magic) for each in found]


def with_kept(batch: OldBatch, kept: Sequence[StoredRecord], horizon_ms: int | None) -> OldBatch:
    """The batch with only these records, at least one; its tombstones stay until `horizon_ms`."""
    return _made(batch.header, kept, batch.header.magic, horizon_ms)


def _made(
    like: BatchHeader, kept: Sequence[StoredRecord], magic: int, horizon_ms: int | None = None
) -> OldBatch:
    codec, stamped = like.attributes & COMPRESSION_MASK, like.attributes & LOG_APPEND_TIME and magic
    records = [_record(each, magic) for each in kept]
    first, last = records[0], records[-1]
    if codec:
        wire = set_of(records, magic, codec, like.max_timestamp if stamped else None)
    else:
        wire = message_of(first, magic, LOG_APPEND_TIME if stamped else 0)
    made = OldBatch(wire)
    base = first.timestamp if horizon_ms is None else horizon_ms
    body = bytearray()
    for record, each in zip(records, kept, strict=True):
        one = b"\0" + varint_of(record.timestamp - base) + varint_of(record.offset - first.offset) + each.rest
        body += varint_of(len(one)) + one
    made.body = bytes(body)
    attributes = codec | (LOG_APPEND_TIME if stamped else 0) | (0 if horizon_ms is None else DELETE_HORIZON)
    times = base, max(each.timestamp for each in records)
    size, crc = len(wire) - OVERHEAD_BYTES, int.from_bytes(wire[_CRC])
    delta = last.offset - first.offset
    made.header = BatchHeader(
        first.offset, size, -1, magic, crc, attributes, delta, *times, *_NOBODY, len(records)
    )
    return made


def _record(each: StoredRecord, magic: int) -> Record:
    value, _ = field(each.rest, field(each.rest, 0)[1])
    return Record(each.offset, each.timestamp if magic else _NO_TIMESTAMP, each.key, value)
