"""Record batches of numbered records, cheap to make and to read.

Record `i` of a batch holds the number of the first record plus `i`, in eight bytes at a known place: as its
value, or, in topics whose records have keys and some have no value, as the name of a header.
"""

import functools
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from crc32c import crc32c

from ..protocol.batch_writing import marker_of, varint_of
from ..protocol.messages.fetch import AbortedTransaction
from ..protocol.record_batch import (
    CONTROL,
    HEADER,
    HEADER_BYTES,
    OVERHEAD_BYTES,
    TRANSACTIONAL,
    Batch,
    header_of,
    spans,
)

_new: Final = tuple.__new__
_NUMBER: Final = struct.Struct(">q")
_CRC: Final = struct.Struct(">I")
_CRC_AT, _CRC_FROM = 17, 21
_LAST_NUMBER: Final = slice(-_NUMBER.size - 1, -1)
"""One byte follows: the number of headers, 0, or the length of the header's value, which is null."""
_KEY_BEFORE, _VALUE_BEFORE = 4, 3
"""Bytes from the record's key to its number, and from the length of its value to its number."""
_NULL, _EMPTY = 1, 0
KEYS: Final = 4
_TOMBSTONES: Final = 4
"""One record in this many is a tombstone."""


class Records(NamedTuple):
    """What a batch still holds of the offsets from `base_offset` to before `end_offset`."""

    base_offset: int
    end_offset: int
    leader_epoch: int
    offsets: Sequence[int]
    numbers: Sequence[int]


def key_of(number: int) -> int:
    """Which of the `KEYS` a record has, in topics with keys."""
    return _mixed(number) % KEYS


def key_bytes(number: int) -> bytes:
    """The key as it is written: one byte."""
    return b"abcd"[key_of(number) :][:1]


def header_name(number: int) -> str:
    """Eight letters, for a record that has a key."""
    return f"{number:08x}"


def is_tombstone(number: int) -> bool:
    """Whether a record with a key has a null value."""
    return not _mixed(number) // KEYS % _TOMBSTONES


def _mixed(number: int) -> int:
    return number * 2_654_435_761 % (1 << 32) >> 16


def make(
    first: int,
    count: int,
    timestamp: int,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
    keyed: bool = False,
) -> bytearray:
    """A batch of `count` records, the first with number `first`."""
    template, places = _template(count, keyed)
    batch = bytearray(template)
    for number, place in enumerate(places, first):
        if keyed:
            batch[place - _KEY_BEFORE : place - _KEY_BEFORE + 1] = key_bytes(number)
            batch[place - _VALUE_BEFORE] = _NULL if is_tombstone(number) else _EMPTY
            batch[place : place + _NUMBER.size] = header_name(number).encode()
        else:
            _NUMBER.pack_into(batch, place, number)
    attributes = TRANSACTIONAL if transactional else 0
    length = len(batch) - OVERHEAD_BYTES
    rest = (attributes, count - 1, timestamp, timestamp, producer_id, producer_epoch, sequence, count)
    HEADER.pack_into(batch, 0, 0, length, 0, 2, 0, *rest)
    _CRC.pack_into(batch, _CRC_AT, crc32c(memoryview(batch)[_CRC_FROM:]))
    return batch


def read(batch: Batch) -> Records | None:
    """None for a control batch."""
    header = HEADER.unpack_from(batch)
    base_offset, leader_epoch, attributes, count = header[0], header[2], header[5], header[12]
    if attributes & CONTROL:
        return None
    end_offset = base_offset + header[6] + 1
    if end_offset - base_offset != count:
        return Records(base_offset, end_offset, leader_epoch, *_left(batch))
    last_number = bytes(batch[_LAST_NUMBER])
    keyed = batch[-1] == _NULL
    end = 1 + (int(last_number, 16) if keyed else int.from_bytes(last_number))
    offsets, numbers = range(base_offset, end_offset), range(end - count, end)
    return _new(Records, (base_offset, end_offset, leader_epoch, offsets, numbers))


def _left(batch: Batch) -> tuple[list[int], list[int]]:
    """The offsets and numbers that compaction has left in a batch."""
    found = list(spans(header_of(batch), batch))
    return [each.offset for each in found], [
        int(bytes(each.body[: each.end][_LAST_NUMBER]), 16) for each in found
    ]


def end_of(batch: Batch) -> tuple[int, int]:
    """The offset after the last one, and the leader epoch."""
    header = header_of(batch)
    return header.base_offset + header.last_offset_delta + 1, header.leader_epoch


def with_aborted(found: Iterable[Any], aborted: Iterable[AbortedTransaction]) -> Iterator[tuple[Any, bool]]:
    """Batches as a read_committed consumer sees them, each with whether its transaction was aborted."""
    coming = sorted(aborted, key=lambda each: each.first_offset, reverse=True)
    open_ids: set[int] = set()
    for batch in found:
        header = header_of(batch)
        last_offset = header.base_offset + header.last_offset_delta
        while coming and coming[-1].first_offset <= last_offset:
            open_ids.add(coming.pop().producer_id)
        if header.attributes & CONTROL:
            marker = marker_of(batch, header)
            if marker is not None and not marker.committed:
                open_ids.discard(header.producer_id)
        yield batch, bool(header.attributes & TRANSACTIONAL) and header.producer_id in open_ids


def outcomes(log: Iterable[Batch]) -> Iterator[tuple[int, int, bool | None]]:
    """Offset and number of each record whose outcome is known, and whether it was committed; None for a
    record outside of transactions. Records of transactions come when their marker does."""
    waiting: dict[int, list[Records]] = {}
    for batch in log:
        header = header_of(batch)
        if header.attributes & CONTROL:
            marker = marker_of(batch, header)
            if marker is not None:
                for found in waiting.pop(marker.producer_id, ()):
                    for offset, number in zip(found.offsets, found.numbers, strict=True):
                        yield offset, number, marker.committed
            continue
        records = read(batch)
        assert records is not None
        if header.attributes & TRANSACTIONAL:
            waiting.setdefault(header.producer_id, []).append(records)
        else:
            for offset, number in zip(records.offsets, records.numbers, strict=True):
                yield offset, number, None


@functools.cache
def _template(count: int, keyed: bool) -> tuple[bytes, tuple[int, ...]]:
    """Zeroes for the header, then the records; and the places of their numbers."""
    made = bytearray(HEADER_BYTES)
    places = []
    size = varint_of(_NUMBER.size)
    before = varint_of(1) + bytes(2) + varint_of(1) + size if keyed else varint_of(-1) + size
    for delta in range(count):
        one = bytearray(2) + varint_of(delta) + before
        made += varint_of(len(one) + _NUMBER.size + 1) + one
        places.append(len(made))
        made += bytes(_NUMBER.size) + varint_of(-1 if keyed else 0)
    return bytes(made), tuple(places)
