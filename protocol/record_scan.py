"""Checks whether a batch's records are as its header says (`DefaultRecordBatch.java`, `DefaultRecord.java`).

Both functions return the smallest and the largest timestamp delta in ms. InvalidRecordError means
INVALID_RECORD; ValueError is for errors that have no code of their own.
"""

import functools

from .record_batch import Batch, InvalidRecordError

_NO_DELTAS = (1 << 63, -1 << 63)
_NULL = 1
"""The varint of -1."""
_CONTINUED = bytes(range(0x80, 0x100))
"""The bytes of a varint that others follow."""
_SIZES = 1024
"""Of how many sizes it is remembered how a record begins."""
_MANY = 16
"""So many records that are alike, one after the other, are looked at one by one."""


def scan(data: Batch | bytes, offset: int, count: int) -> tuple[int, int]:
    """For uncompressed records: every byte from `offset` on has to belong to one of `count` records."""
    end = len(data)
    if count == 1:
        if is_usual(data, offset):
            return 0, 0
        if (delta := _plain(data, offset)) is not None:
            return delta, delta
    earliest, latest = _NO_DELTAS
    head: Batch | bytes = b""
    same: Batch | bytes = b""
    total = head_bytes = rest = width = alike = 0
    many, left = _MANY, count
    try:
        while left:
            left -= 1
            start = offset
            if head_bytes and data[start : start + head_bytes] == head:
                # Most records are like the one before: the same size and age, no key, no headers.
                at = start + head_bytes + (data[start + head_bytes] >= 0x80)
                offset = start + total
                if (
                    offset - at == rest
                    and data[at] < 0x80
                    and data[at + 1 : at + width] == same
                    and not data[offset - 1]
                ):
                    alike += 1
                    if alike >= many and left >= _MANY:
                        # So are many more, as a rule.
                        most = min(many, left)
                        if _alike(data, offset, total, most, head, at - start - head_bytes, same):
                            offset += most * total
                            left -= most
                            alike += most
                            many *= 2
                        else:
                            alike, many = 0, _MANY
                    continue
                offset = start
            byte = data[offset]
            offset += 1
            if byte >= 0x80:
                more = data[offset]
                if more < 0x80:
                    byte, offset = byte & 0x7F | more << 7, offset + 1
                else:
                    byte, offset = _size(data, offset, byte)
            at = offset + 2
            offset += byte >> 1
            if offset > end or byte & 1:
                raise InvalidRecordError("a record ends behind the batch")
            byte = data[at - 1]
            if byte >= 0x80:
                byte, at = _long(data, at, byte)
            delta = (byte >> 1) ^ -(byte & 1)
            if delta > latest:
                latest = delta
            if delta < earliest:
                earliest = delta
            timed = at
            byte = data[at]
            at += 1
            if byte >= 0x80:
                if data[at] < 0x80:
                    at += 1
                else:
                    _, at = _int(data, at, byte)
            if data[at] == _NULL:
                byte = data[at + 1]
                value = at + 2
                if byte >= 0x80:
                    more = data[value]
                    value += 1
                    byte = byte & 0x7F | more << 7 if more < 0x80 else 1
                if value + (byte >> 1) + 1 == offset and not byte & 1 and not data[offset - 1]:
                    if count > 1:
                        head, head_bytes, total = data[start:timed], timed - start, offset - start
                        same, width, rest = data[at:value], value - at + 1, offset - at + 1
                    continue
            if _body(data, at) != offset:
                raise InvalidRecordError("a record's parts are not as long as the record")
    except IndexError:
        raise InvalidRecordError("the last record ends behind the batch") from None
    if offset != end:
        raise InvalidRecordError("records are left")
    return earliest, latest


def is_usual(data: Batch | bytes, offset: int) -> bool:
    """Whether the bytes from `offset` on are one record with the time of its batch, no key and no headers."""
    end = len(data)
    head = _usual_head(end - offset)
    return bool(head) and data[offset : offset + len(head)] == head and not data[end - 1]


def _alike(
    data: Batch | bytes,
    start: int,
    total: int,
    count: int,
    head: Batch | bytes,
    more: int,
    same: Batch | bytes,
) -> bool:
    """Whether there are `count` records of `total` bytes each that begin with `head`, an offset delta of one
    byte and `more`, and `same`, and have no headers.

    Looks at the last of them, then compares the first byte of all, the second byte of all, and so on.
    """
    stop = start + total * count
    last = stop - total
    if stop > len(data) or data[last : last + len(head)] != head:
        return False
    at = start
    for byte in head:
        if data[at:stop:total] != bytes((byte,)) * count:
            return False
        at += 1
    if more and bytes(data[at:stop:total]).translate(None, _CONTINUED):
        return False
    at += more
    if not bytes(data[at:stop:total]).isascii():
        return False
    for byte in same:
        at += 1
        if data[at:stop:total] != bytes((byte,)) * count:
            return False
    return data[start + total - 1 : stop : total] == bytes(count)


@functools.lru_cache(_SIZES)
def _usual_head(total: int) -> bytes:
    """What precedes the value of the only record if that has `total` bytes, the time of its batch, no key and
    no headers; empty if no such record has that size."""
    for width in (1, 2):
        head = bytes((*_varint_of(total - width), 0, 0, 0, _NULL))
        for wide in (1, 2):
            value = _varint_of(total - len(head) - wide - 1)
            if len(head) == width + 4 and len(value) == wide:
                return head + bytes(value)
    return b""


def _varint_of(size: int) -> tuple[int, ...]:
    """A size below 8 KB; empty for others."""
    doubled = size << 1
    if not 0 <= doubled < 1 << 14:
        return ()
    return (doubled,) if doubled < 0x80 else (doubled & 0x7F | 0x80, doubled >> 7)


def _plain(data: Batch | bytes, offset: int) -> int | None:
    """The timestamp delta of the only record; None unless that is small, and the record has a short key or
    none, less than 8 KB, and no headers."""
    end = len(data)
    try:
        size, at = data[offset], offset + 1
        if size >= 0x80:
            more = data[at]
            if more >= 0x80:
                return None
            size, at = size & 0x7F | more << 7, at + 1
        if at + (size >> 1) != end or size & 1:
            return None
        delta, place, key = data[at + 1 : at + 4]
        if (delta | place | key) >= 0x80:
            return None
        at += 4
        if key != _NULL:
            if key & 1:
                return None
            at += key >> 1
        size, at = data[at], at + 1
        if size >= 0x80:
            more = data[at]
            if more >= 0x80:
                return None
            size, at = size & 0x7F | more << 7, at + 1
    except (IndexError, ValueError):
        return None
    if at + (size >> 1) + 1 != end or size & 1 or data[end - 1]:
        return None
    return (delta >> 1) ^ -(delta & 1)


def scan_skipping(data: bytes, count: int, most_bytes: int = 1 << 31) -> tuple[int, int, bool]:
    """For decompressed records, as a broker reads those that it keeps compressed: sizes of records are not
    checked, except that none may be more than `most_bytes` (`max.decompressed.message.bytes`).

    Also returns whether each record's offset delta is its index.
    """
    end, offset = len(data), 0
    earliest, latest = _NO_DELTAS
    in_order = True
    try:
        for index in range(count):
            # Varints are decoded inline: a call is more expensive than the rest.
            byte = data[offset]
            offset += 1
            if byte >= 0x80:
                byte, offset = _int(data, offset, byte)
            if byte >> 1 > most_bytes and not byte & 1:
                raise InvalidRecordError(f"a record of {byte >> 1} bytes")
            byte = data[offset + 1]
            offset += 2
            if byte >= 0x80:
                byte, offset = _long(data, offset, byte)
            delta = (byte >> 1) ^ -(byte & 1)
            if delta < earliest:
                earliest = delta
            if delta > latest:
                latest = delta
            byte = data[offset]
            offset += 1
            if byte >= 0x80:
                byte, offset = _int(data, offset, byte)
            if byte != index << 1:
                in_order = False
            for _ in (0, 1):
                byte = data[offset]
                offset += 1
                if byte >= 0x80:
                    byte, offset = _int(data, offset, byte)
                if not byte & 1:
                    offset += byte >> 1
                if offset > end:
                    raise InvalidRecordError("a key or value ends behind the batch")
            if offset < end and not data[offset]:
                offset += 1
                continue
            headers, offset = _varint(data, offset)
            if headers < 0:
                raise InvalidRecordError("a negative number of headers")
            for _ in range(headers):
                size, offset = _varint(data, offset)
                if size < 0:
                    raise InvalidRecordError("a header's key is null")
                size, offset = _varint(data, offset + size)
                offset += max(0, size)
                if offset > end:
                    raise InvalidRecordError("a header ends behind the batch")
    except IndexError:
        raise InvalidRecordError("the last record ends behind the batch") from None
    if offset != end:
        raise InvalidRecordError("records are left")
    return earliest, latest, in_order


def _body(data: Batch | bytes, at: int) -> int:
    """Where key, value and headers end."""
    for _ in range(2):
        size, at = _varint(data, at)
        at += max(0, size)
    byte = data[at]
    return _headers(data, at + 1, byte) if byte else at + 1


def _headers(data: Batch | bytes, at: int, byte: int) -> int:
    """Where the headers end; `byte` is the first byte of their number."""
    if byte >= 0x80:
        byte, at = _int(data, at, byte)
    if byte & 1 or byte >> 1 > len(data) - at:
        raise InvalidRecordError("a number of headers that can't be")
    for _ in range(byte >> 1):
        size, at = _varint(data, at)
        if size < 0 or at + size > len(data):
            raise InvalidRecordError("a header's key is null, or ends behind the batch")
        size, at = _varint(data, at + size)
        at += max(0, size)
    return at


def _varint(data: Batch | bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    at += 1
    if byte >= 0x80:
        byte, at = _int(data, at, byte)
    return (byte >> 1) ^ -(byte & 1), at


def _int(data: Batch | bytes, at: int, first: int) -> tuple[int, int]:
    """The rest of a varint of more than one byte, not yet zigzag-decoded, and the offset after it."""
    value, shift = first & 0x7F, 7
    while True:
        byte = data[at]
        at += 1
        if byte < 0x80:
            return (value | byte << shift) & 0xFFFF_FFFF, at
        value |= (byte & 0x7F) << shift
        shift += 7
        if shift > 28:
            raise InvalidRecordError("a varint of more than 5 bytes")


def _size(data: Batch | bytes, at: int, first: int) -> tuple[int, int]:
    """As `_int`, but a broker fails on a varint that is too long."""
    try:
        return _int(data, at, first)
    except InvalidRecordError as error:
        raise ValueError(str(error)) from None


def _long(data: Batch | bytes, at: int, first: int) -> tuple[int, int]:
    """The rest of a varint of up to 64 bits."""
    value, shift = first & 0x7F, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
        if shift > 63:
            raise InvalidRecordError("a varint of more than 10 bytes")
