"""Divides the bytes of a log segment into record batches and other bytes. No byte is left out."""

import struct
from collections.abc import Iterator
from mmap import mmap
from typing import Final, NamedTuple

from crc32c import crc32c

from ..protocol import message_set
from ..protocol.record_batch import (
    HEADER_BYTES,
    OVERHEAD_BYTES,
    CorruptBatchError,
    crc_matches,
    parse_header,
)

_HEAD: Final = struct.Struct(">qi4xb")
_CHECKED: Final = struct.Struct(">8xi4xbI").unpack_from
_CRC_FROM: Final = 21
_MAGIC_AT: Final = 16
_LEAST_LENGTH: Final = {0: 14, 1: 22, 2: HEADER_BYTES - OVERHEAD_BYTES}


class Span(NamedTuple):
    """`size` bytes from `position` on: a whole batch with the right CRC, or else `reason` says what is
    wrong."""

    position: int
    size: int
    data: bytes
    reason: str

    @property
    def magic(self) -> int:
        return self.data[_MAGIC_AT]


def looks_like_batch(data: bytes) -> bool:
    """Whether the first bytes of a file may be a batch of any magic."""
    if len(data) <= _MAGIC_AT:
        return False
    offset: int
    length: int
    offset, length, magic = _HEAD.unpack_from(data)
    return 0 <= offset < 1 << 48 and _LEAST_LENGTH.get(magic, 1 << 31) <= length < 1 << 30


def scan(
    data: mmap | bytes, start: int = 0, end: int | None = None, *, keep_damaged: bool = False
) -> Iterator[Span]:
    """Spans from `start`, where a batch begins, up to the first batch at or after `end`.

    After bytes that are not a batch it continues at the next whole batch of magic 2 with the right CRC. With
    `keep_damaged`, a span of the right length but with a wrong CRC has its data too.
    """
    size = len(data)
    end = size if end is None else end
    while start < end:
        length, reason = _length(data, start)
        if not reason:
            body = bytes(data[start : start + length])
            reason = _fault(body)
            yield Span(start, length, b"" if reason and not keep_damaged else body, reason)
            start += length
            continue
        resumed = _next_batch(data, start + 1)
        yield Span(start, resumed - start, b"", reason)
        start = resumed


def whole_batches(data: bytes, end: int) -> list[int]:
    """Where batches of magic 2 with the right CRC begin, one after the other from 0 to before `end`; and the
    end of the last one."""
    at, size, found = 0, len(data), []
    least, view = _LEAST_LENGTH[2], memoryview(data)
    while at < end and at + HEADER_BYTES <= size:
        length, magic, crc = _CHECKED(data, at)
        stop = at + OVERHEAD_BYTES + length
        if magic != 2 or length < least or stop > size or crc32c(view[at + _CRC_FROM : stop]) != crc:
            break
        found.append(at)
        at = stop
    return [*found, at]


def starts(data: mmap | bytes, apart: int) -> list[int]:
    """Positions of spans that are at least `apart` bytes from each other, the first being 0. Each follows a
    span of the right length: so what is before it can be divided without it."""
    found, at, size = [0], 0, len(data)
    head, least = _HEAD.unpack_from, _LEAST_LENGTH[2]
    while at < size:
        # Most batches are whole, and of magic 2.
        length, magic = head(data, at)[1:] if at + HEADER_BYTES <= size else (0, 0)
        reason = ""
        if magic == 2 and least <= length <= size - at - OVERHEAD_BYTES:
            at += length + OVERHEAD_BYTES
        else:
            length, reason = _length(data, at)
            at = at + length if not reason else _next_batch(data, at + 1)
        if at - found[-1] >= apart and at < size and not reason:
            found.append(at)
    return found


def _length(data: mmap | bytes, start: int) -> tuple[int, str]:
    """The size of the batch at `start`, or why there is none."""
    left = len(data) - start
    if left < _MAGIC_AT + 1:
        return 0, f"truncated tail: {left} bytes are less than the start of a batch"
    _, length, magic = _HEAD.unpack_from(data, start)
    if length == 0 and not any(data[start : start + _MAGIC_AT + 1]):
        return 0, "zeros: space that was set aside and not written, or lost"
    if magic not in _LEAST_LENGTH:
        return 0, f"unknown magic {magic}"
    if length < _LEAST_LENGTH[magic]:
        return 0, f"a batch of magic {magic} cannot have length {length}"
    if length + OVERHEAD_BYTES > left:
        return 0, f"truncated tail: {left} bytes of a batch of {length + OVERHEAD_BYTES}"
    return length + OVERHEAD_BYTES, ""


def _fault(batch: bytes) -> str:
    """Why a batch of the right length can't be read."""
    if batch[_MAGIC_AT] == 2:
        header = parse_header(batch)
        return "" if crc_matches(memoryview(batch), header) else f"wrong CRC {header.crc & 0xFFFFFFFF:#010x}"
    try:
        message = message_set.read_message(batch)
    except CorruptBatchError as error:
        return str(error)
    return "" if message_set.crc_matches(batch, message) else f"wrong CRC {message.crc:#010x}"


def _next_batch(data: mmap | bytes, start: int) -> int:
    """Where the next whole batch of magic 2 begins, or the end."""
    size = len(data)
    at = data.find(b"\x02", start + _MAGIC_AT)
    while at >= 0:
        begin = at - _MAGIC_AT
        if begin + HEADER_BYTES > size:
            break
        if _plausible(data, begin) and not _fault(bytes(data[begin : begin + _length(data, begin)[0]])):
            return begin
        at = data.find(b"\x02", at + 1)
    return size


def _plausible(data: mmap | bytes, start: int) -> bool:
    """A cheap check before the CRC: whether a broker might have written this."""
    if _length(data, start)[1]:
        return False
    header = parse_header(bytes(data[start : start + HEADER_BYTES]))
    return (
        header.base_offset >= 0
        and header.leader_epoch >= -1
        and 0 <= header.attributes < 1 << 7
        and 0 <= header.record_count <= header.last_offset_delta + 1
    )
