"""Record batches of numbered records, cheap to make and to read back.

Record `i` of a batch holds the number of the first plus `i`, in eight bytes at a place that is known.
"""

import functools
import struct
from collections.abc import Iterable, Iterator
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
)

_NUMBER: Final = struct.Struct(">q")
_CRC_FROM: Final = 21
_LAST_NUMBER_AT: Final = -_NUMBER.size - 1
"""From the end: the record's count of headers, 0, is the last byte."""


class Records(NamedTuple):
    """What a batch holds: offsets `base_offset` to `end_offset`, numbers from `first` on."""

    base_offset: int
    end_offset: int
    leader_epoch: int
    first: int
    records: int


def make(
    first: int,
    count: int,
    timestamp: int,
    producer_id: int = -1,
    producer_epoch: int = -1,
    sequence: int = -1,
    transactional: bool = False,
) -> bytearray:
    """A batch of `count` records, the first with number `first`."""
    template, places = _template(count)
    batch = bytearray(template)
    for index, place in enumerate(places):
        _NUMBER.pack_into(batch, place, first + index)
    attributes = TRANSACTIONAL if transactional else 0
    length = len(batch) - OVERHEAD_BYTES
    rest = (attributes, count - 1, timestamp, timestamp, producer_id, producer_epoch, sequence, count)
    HEADER.pack_into(batch, 0, 0, length, 0, 2, 0, *rest)
    crc = crc32c(memoryview(batch)[_CRC_FROM:])
    HEADER.pack_into(batch, 0, 0, length, 0, 2, crc, *rest)
    return batch


def read(batch: bytes | bytearray | memoryview) -> Records | None:
    """None for a control batch."""
    header = HEADER.unpack_from(batch)
    base_offset, leader_epoch, attributes, count = header[0], header[2], header[5], header[12]
    if attributes & CONTROL:
        return None
    last: int = _NUMBER.unpack_from(batch, len(batch) + _LAST_NUMBER_AT)[0]
    return Records(base_offset, base_offset + count, leader_epoch, last - count + 1, count)


def end_of(batch: Batch) -> tuple[int, int]:
    """One past its last offset, and its leader epoch."""
    header = header_of(batch)
    return header.base_offset + header.last_offset_delta + 1, header.leader_epoch


def with_aborted(found: Iterable[Any], aborted: Iterable[AbortedTransaction]) -> Iterator[tuple[Any, bool]]:
    """Batches as a read_committed consumer takes them: each, and whether it is of an aborted transaction."""
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


@functools.cache
def _template(count: int) -> tuple[bytes, tuple[int, ...]]:
    """Zeroes for the header, then the records; and where their numbers go."""
    made = bytearray(HEADER_BYTES)
    places = []
    for delta in range(count):
        one = bytearray(2) + varint_of(delta) + varint_of(-1) + varint_of(_NUMBER.size)
        made += varint_of(len(one) + _NUMBER.size + 1) + one
        places.append(len(made))
        made += bytes(_NUMBER.size + 1)
    return bytes(made), tuple(places)
