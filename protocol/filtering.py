"""Rewrites batches with fewer records, as compaction does (`MemoryRecords.filterTo`)."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from .batch_writing import batch_of, varint_of
from .compression import compress
from .record_batch import (
    COMPRESSION_MASK,
    DELETE_HORIZON,
    LOG_APPEND_TIME,
    BatchHeader,
    field,
    header_of,
    spans,
    varint,
)

_NO_TIMESTAMP: Final = -1


class StoredRecord(NamedTuple):
    """A record that can be rewritten: timestamp and offset are absolute, `rest` is the original from the key
    on."""

    offset: int
    timestamp: int
    key: bytes | None
    tombstone: bool
    attributes: int
    rest: bytes


def stored_records(batch: bytes | bytearray | memoryview) -> Iterator[StoredRecord]:
    """The records of a batch. ValueError or IndexError if it is malformed."""
    for body, start, key_at, end, offset, timestamp in spans(header_of(batch), batch):
        key, at = field(body, key_at)
        length, _ = varint(body, at)
        yield StoredRecord(offset, timestamp, key, length < 0, body[start], bytes(body[key_at:end]))


def with_records(
    header: BatchHeader, kept: Sequence[StoredRecord], delete_horizon_ms: int | None
) -> bytearray:
    """The batch with only the records in `kept`, at least one; offsets, sequence and producer stay the same.

    A delete horizon replaces the base timestamp (KIP-534, KAFKA-8522).
    """
    base_timestamp = kept[0].timestamp if delete_horizon_ms is None else delete_horizon_ms
    body = bytearray()
    for record in kept:
        one = bytearray((record.attributes,))
        one += varint_of(record.timestamp - base_timestamp)
        one += varint_of(record.offset - header.base_offset)
        one += record.rest
        body += varint_of(len(one)) + one
    attributes = header.attributes & ~DELETE_HORIZON
    if delete_horizon_ms is not None:
        attributes |= DELETE_HORIZON
    newest = header.max_timestamp
    if not attributes & LOG_APPEND_TIME:
        newest = max(record.timestamp for record in kept)
    return batch_of(
        header._replace(
            attributes=attributes,
            base_timestamp=base_timestamp,
            max_timestamp=newest,
            record_count=len(kept),
        ),
        compress(header.attributes & COMPRESSION_MASK, bytes(body)),
    )


def without_records(header: BatchHeader) -> bytearray:
    """The batch without records, which still has the last sequence and the last offset."""
    attributes = header.attributes & ~(COMPRESSION_MASK | DELETE_HORIZON)
    return batch_of(header._replace(attributes=attributes, base_timestamp=_NO_TIMESTAMP, record_count=0), b"")
