"""Batches for readers that know messages of magic 0 and 1 only (`RecordsUtil.downConvert`,
`LazyDownConversionRecords.java`)."""

from collections.abc import Generator, Iterator, Sequence
from itertools import dropwhile
from typing import Final

from ..portions import MANY, portions
from ..protocol import message_set, record_batch
from ..protocol.compression import Compression
from ..protocol.primitives import Records
from ..protocol.record_batch import COMPRESSION_MASK, CONTROL, LOG_APPEND_TIME, Batch, OldBatch, RecordSpan

_CHUNK_BYTES: Final = 128 * 1024
"""So much is converted at a time, and so much of an overflow message is written at a time."""
_OVERFLOW_HEAD: Final = 12


class NotConvertibleError(ValueError):
    """Records that are compressed in a way that old messages don't have: UNSUPPORTED_COMPRESSION_TYPE."""


def is_newer(batch: bytes | Batch, magic: int) -> bool:
    """Whether a batch has a higher magic; not if it is cut off at the end."""
    return record_batch.is_whole(batch) and record_batch.header_of(batch).magic > magic


def has_headers(read: Records) -> Generator[None, None, bool]:
    """Whether a record that was read has headers, found out in parts."""
    for batch in _whole(read):
        header = record_batch.header_of(batch)
        for some in portions(record_batch.spans(header, batch), MANY):
            if any(map(_with_headers, some)):
                return True
            yield
    return False


def _with_headers(span: RecordSpan) -> bool:
    _, at = record_batch.field(span.body, span.key)
    _, at = record_batch.field(span.body, at)
    return bool(span.body[at])


def messages_of(batch: Batch, magic: int, offset: int) -> Generator[None, None, bytes]:
    """A batch as messages, in parts, without those below `offset` if it is not compressed; as it is if it has
    no higher `magic`, and empty for a control batch. NotConvertibleError."""
    header = record_batch.header_of(batch)
    if header.magic <= magic:
        return bytes(batch)
    if header.attributes & CONTROL:
        return b""
    codec = header.attributes & COMPRESSION_MASK
    if codec == Compression.ZSTD:
        raise NotConvertibleError("zstd")
    records = record_batch.records(batch)
    if not codec:
        records = dropwhile(lambda each: each.offset < offset, records)
    stamped = header.max_timestamp if header.attributes & LOG_APPEND_TIME else None
    return (yield from message_set.making_set(records, magic, codec, stamped))


def converted(read: Records, magic: int, offset: int) -> Generator[None, None, bytes]:
    """What was read as messages, in parts; as it is if there are none, as for markers.
    NotConvertibleError."""
    found = bytearray()
    for batch in _whole(read):
        found += yield from messages_of(batch, magic, offset)
        yield
    return bytes(found) or b"".join(read)


def padded(read: Records, magic: int, offset: int) -> Generator[None, None, bytes]:
    """What was read as messages, in parts: as many bytes as were read, but at least the first messages. What
    does not fit is cut off; where there is less, what seems to be the beginning of a large message follows.
    NotConvertibleError if the first batch can't be converted."""
    batches = _whole(read)
    if not batches:
        return b""
    first = b""
    for batch in batches:
        first = yield from messages_of(batch, magic, offset)
        yield
        if first:
            break
    if not first:
        return _overflow(_OVERFLOW_HEAD)
    found = bytearray(first)
    size = max(sum(map(len, read)), len(found))
    # A broker skips one batch for the messages that it has, even if others before it became none.
    for chunk in _chunks(batches[1:]):
        if len(found) >= size:
            break
        try:
            made = bytearray()
            for batch in chunk:
                made += yield from messages_of(batch, magic, offset)
                yield
        except NotConvertibleError:
            break
        found += made
    return bytes(found[:size]) + _overflow(size - len(found))


def _whole(read: Records) -> list[Batch]:
    return [
        each if isinstance(each, OldBatch) else memoryview(each)
        for each in read
        if record_batch.is_whole(each)
    ]


def _chunks(batches: Sequence[Batch]) -> Iterator[list[Batch]]:
    chunk: list[Batch] = []
    size = 0
    for batch in batches:
        if chunk and size + len(batch) > _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(batch)
        size += len(batch)
    if chunk:
        yield chunk


def _overflow(size: int) -> bytes:
    """The beginning of a message that ends after `size` bytes, which consumers ignore."""
    found = bytearray()
    while size > 0:
        part = bytearray(max(_OVERFLOW_HEAD, min(size + 1, _CHUNK_BYTES)))
        part[:8] = b"\xff" * 8
        part[8:12] = max(size + 1, record_batch.HEADER_BYTES).to_bytes(4, "big")
        found += part[:size]
        size -= min(len(part), size)
    return bytes(found)
