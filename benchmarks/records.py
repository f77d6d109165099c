"""Record batches, magic 2: built for producing, verified after fetching."""

from __future__ import annotations

import random
import struct
import time
from functools import cache

from crc32c import crc32c

from benchmarks.wire import WrongAnswerError

# base offset, length, leader epoch, magic, CRC-32C, attributes, last offset delta, first and last timestamp,
# producer id, producer epoch, base sequence, record count
_HEADER = struct.Struct(">qiibIhiqqqhii")
_LENGTH = struct.Struct(">8xi")
_CRC, _CRC_AT = struct.Struct(">I"), 17
_COVERED_FROM = 21  # the CRC covers everything from the attributes on
_SEQUENCE, _SEQUENCE_AT = struct.Struct(">i"), 53
_MAGIC = 2


@cache
def _payload() -> bytes:
    """Bytes that don't compress, the same in every run."""
    return random.Random(20120701).randbytes(1 << 20)


def _varint(value: int) -> bytes:
    """A signed varint of the record format (zigzag)."""
    value = (value << 1) ^ (value >> 63)
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def build_batch(records: int, value_bytes: int, producer_id: int = -1, epoch: int = -1) -> bytes:
    """One uncompressed batch without keys, stamped with the present time; of a producer, the first."""
    body = bytearray()
    payload = _payload()
    for delta in range(records):
        start = delta * 997 % (len(payload) - value_bytes)
        value = payload[start : start + value_bytes]
        record = b"\0\0" + _varint(delta) + _varint(-1) + _varint(value_bytes) + value + b"\0"
        body += _varint(len(record)) + record
    now_ms = time.time_ns() // 1_000_000
    sequence = min(producer_id, 0)
    tail = (
        struct.pack(">hiqqqhii", 0, records - 1, now_ms, now_ms, producer_id, epoch, sequence, records) + body
    )
    return struct.pack(">qiibI", 0, len(tail) + 9, -1, _MAGIC, crc32c(tail)) + tail


def set_sequence(batch: memoryview, sequence: int) -> None:
    """Make it the batch with that base sequence."""
    _SEQUENCE.pack_into(batch, _SEQUENCE_AT, sequence)
    _CRC.pack_into(batch, _CRC_AT, crc32c(batch[_COVERED_FROM:]))


def whole_batches(data: memoryview) -> tuple[int, int]:
    """Bytes of the whole batches in fetched `data` (a cut last one is legal) and the offset after them."""
    at, after = 0, -1
    while at + _HEADER.size <= len(data):
        size = 12 + int(_LENGTH.unpack_from(data, at)[0])
        if size < _HEADER.size or at + size > len(data):
            break
        base, last_delta = struct.unpack_from(">q15xi", data, at)
        after = base + last_delta + 1
        at += size
    return at, after


def verify_batches(data: memoryview, offset: int) -> tuple[int, int]:
    """Check whole batches: CRC-32C, offsets contiguous from `offset`, and as many records as they say.

    Returns the number of records and the offset after the last one.
    """
    total = 0
    at = 0
    while at < len(data):
        _, length, _, magic, crc, _, last_delta, *_, count = _HEADER.unpack_from(data, at)
        base = int(struct.unpack_from(">q", data, at)[0])
        batch = data[at : at + 12 + length]
        if magic != _MAGIC:
            raise WrongAnswerError(f"fetched batch of magic {magic}")
        if crc32c(batch[_COVERED_FROM:]) != crc:
            raise WrongAnswerError(f"CRC-32C of the fetched batch at offset {base} is wrong")
        if base != offset:
            raise WrongAnswerError(f"fetched batch starts at offset {base}, expected {offset}")
        if count != last_delta + 1 or count != _count_records(batch):
            raise WrongAnswerError(
                f"fetched batch at offset {base} does not hold the {count} records it says"
            )
        total += count
        offset += count
        at += len(batch)
    return total, offset


def _count_records(batch: memoryview) -> int:
    """Walk over the records' lengths; -1 where they don't fill the batch exactly."""
    at, end, count = _HEADER.size, len(batch), 0
    while at < end:
        size = shift = 0
        while True:
            byte = batch[at]
            at += 1
            size |= (byte & 0x7F) << shift
            if byte < 0x80 or at == end:
                break
            shift += 7
        if size & 1:  # negative
            return -1
        at += size >> 1
        count += 1
    return count if at == end else -1
