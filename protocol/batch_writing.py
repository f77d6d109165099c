"""Writes record batches of magic 2: those that brokers themselves append, or rewrite."""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from crc32c import crc32c

from .primitives import write_uvarint
from .record_batch import (
    CONTROL,
    HEADER,
    OVERHEAD_BYTES,
    TRANSACTIONAL,
    Batch,
    BatchHeader,
    records,
)

_LENGTH_AT: Final = 8
_CRC_AT: Final = 17
_CRC_FROM: Final = 21
_INT32: Final = struct.Struct(">I")
_SHORT: Final = 64
_TWO_BYTES: Final = 1 << 13
"""The least number whose varint is longer."""
_VARINTS: Final = [bytes([2 * number]) for number in range(_SHORT)] + [b"\1"]
"""Those of one byte; the last one is that of -1."""
_NO_SEQUENCE: Final = -1
_MARKER_KEY: Final = struct.Struct(">hh")
_MARKER_VALUE: Final = struct.Struct(">hi")
_ABORT, _COMMIT = 0, 1


def varint_of(number: int) -> bytes:
    """A zigzag-encoded varint; bits beyond the 64th are lost."""
    if -1 <= number < _SHORT:
        return _VARINTS[number]
    if 0 < number < _TWO_BYTES:
        return bytes((number << 1 & 0x7F | 0x80, number >> 6))
    zigzag = ((number << 1) ^ (number >> 63)) & ((1 << 64) - 1)
    out = bytearray()
    write_uvarint(out, zigzag)
    return bytes(out)


def batch_of(header: BatchHeader, body: bytes) -> bytearray:
    """The batch with this body; sets the length and CRC in the header."""
    return _made(header, body)


def _made(header: tuple[int, ...], body: bytes | bytearray) -> bytearray:
    made = bytearray(HEADER.pack(*header)) + body
    _INT32.pack_into(made, _LENGTH_AT, len(made) - OVERHEAD_BYTES)
    _INT32.pack_into(made, _CRC_AT, crc32c(memoryview(made)[_CRC_FROM:]))
    return made


def key_values(
    pairs: Sequence[tuple[bytes, bytes | None]],
    now_ms: int,
    *,
    attributes: int = 0,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = _NO_SEQUENCE,
) -> bytearray:
    """A batch of at least one record, each with key and value (None is a tombstone), all with timestamp
    `now_ms`."""
    body = bytearray()
    for delta, (key, value) in enumerate(pairs):
        content = b"\1" if value is None else varint_of(len(value)) + value
        one = b"\0\0" + varint_of(delta) + varint_of(len(key)) + key + content
        body += varint_of(len(one) + 1) + one + b"\0"
    last = len(pairs) - 1
    times = now_ms, now_ms
    ids = producer_id, producer_epoch, base_sequence
    header = (0, 0, 0, 2, 0, attributes, last, *times, *ids, last + 1)
    return _made(header, body)


def one_record(
    key: bytes | None,
    value: bytes | None,
    headers: Sequence[tuple[str, bytes | None]],
    timestamp_ms: int,
) -> bytearray:
    """A batch of one record, without producer id."""
    return batch_of_records([record_of(0, key, value, headers)], timestamp_ms)


def record_of(
    delta: int, key: bytes | None, value: bytes | None, headers: Sequence[tuple[str, bytes | None]]
) -> bytes:
    """A record of a batch, with the timestamp of that."""
    one = b"\0\0" + varint_of(delta) + _sized(key) + _sized(value) + varint_of(len(headers))
    for name, content in headers:
        one += _sized(name.encode()) + _sized(content)
    return varint_of(len(one)) + one


def batch_of_records(made: Sequence[bytes], timestamp_ms: int) -> bytearray:
    """A batch of records that `record_of` made, without producer id."""
    last, times = len(made) - 1, (timestamp_ms, timestamp_ms)
    header = BatchHeader(0, 0, -1, 2, 0, 0, last, *times, -1, -1, _NO_SEQUENCE, len(made))
    return batch_of(header, b"".join(made))


def _sized(data: bytes | None) -> bytes:
    return varint_of(-1) if data is None else varint_of(len(data)) + data


class Marker(NamedTuple):
    """The end of a transaction, as a control batch in the log records it (`EndTransactionMarker.java`)."""

    producer_id: int
    producer_epoch: int
    committed: bool
    coordinator_epoch: int


def marker_batch(marker: Marker, now_ms: int) -> bytearray:
    """The control batch for a marker (KIP-98)."""
    key = _MARKER_KEY.pack(0, _COMMIT if marker.committed else _ABORT)
    value = _MARKER_VALUE.pack(0, marker.coordinator_epoch)
    return key_values(
        [(key, value)],
        now_ms,
        attributes=TRANSACTIONAL | CONTROL,
        producer_id=marker.producer_id,
        producer_epoch=marker.producer_epoch,
    )


def marker_of(batch: Batch, header: BatchHeader) -> Marker | None:
    """The marker in a control batch; None if compaction has emptied the batch, or for another kind of control
    record."""
    record = next(records(batch), None)
    if record is None or record.key is None or record.value is None:
        return None
    _, kind = _MARKER_KEY.unpack_from(record.key)
    if kind not in (_ABORT, _COMMIT):
        return None
    _, coordinator_epoch = _MARKER_VALUE.unpack_from(record.value)
    return Marker(header.producer_id, header.producer_epoch, kind == _COMMIT, coordinator_epoch)
