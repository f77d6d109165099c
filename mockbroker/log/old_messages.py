"""Messages of magic 0 and 1 in Produce requests, which become a batch of magic 2 (`LogValidator.java`).

What is wrong with the records themselves is found when that batch is validated.
"""

from collections.abc import Generator
from typing import Final, NamedTuple

from ..configs import TopicSettings
from ..portions import MANY, at_once, portions
from ..protocol import message_set, record_batch
from ..protocol.batch_writing import batch_of, varint_of
from ..protocol.compression import Compression, TooLargeError, compress
from ..protocol.errors import ErrorCode
from ..protocol.message_set import Message
from ..protocol.record_batch import (
    ATTRIBUTES_AT,
    COMPRESSION_MASK,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    MAGIC,
    MAX_RECORDS,
    BatchHeader,
    CorruptBatchError,
    Record,
)
from .recompression import CODECS
from .validation import NO_TIMESTAMP, BatchError

_NO_PRODUCER: Final = (-1, -1, -1)
_ATTRIBUTES_AT: Final = 17


class Made(NamedTuple):
    """A batch to be appended, with its header; `sent` is the compressed message that it is made of, if the
    log keeps that as it is."""

    batch: bytearray | memoryview
    header: BatchHeader
    sent: memoryview | None = None


class _Kept(NamedTuple):
    """A record of the batch that is made: `rest` is what follows its offset, which is `offset` as it was
    sent."""

    timestamp: int
    rest: bytes
    offset: int = 0


def converting(
    data: memoryview, settings: TopicSettings, *, mixed: bool, marks_tolerated: bool
) -> Generator[None, None, list[Made]]:
    """The batch with the records of a message set, in parts; none if it has no message. BatchError if it is
    refused.

    `mixed` is whether a set may have several compressed messages, and all formats, batches too: these stay as
    they are if there is nothing else, and none is compressed. `marks_tolerated` is whether a producer may say
    that a broker has set a timestamp.
    """
    outer = yield from _outer(data, settings, mixed=mixed)
    if not outer:
        return []
    codec = next((codec for each in reversed(outer) if (codec := _codec_of(each))), 0)
    if not mixed and ((codec and len(outer) > 1) or len({each[16] for each in outer}) > 1):
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    kept = settings.compression_type
    target = codec if kept == "producer" else CODECS[kept]
    if not target and not codec and all(each[16] == MAGIC for each in outer):
        return [Made(each, record_batch.header_of(each)) for each in outer]
    records: list[_Kept] = []
    for some in portions(outer, MANY):
        for unit in some:
            if unit[16] == MAGIC:
                records += _of_batch(unit)
            else:
                records += yield from _of_message(unit, settings, marks_tolerated=marks_tolerated)
            if len(records) > MAX_RECORDS:
                raise _too_many()
        yield
    if any(each.timestamp < NO_TIMESTAMP for each in records):
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True)
    batch, header = yield from _written(records, target)
    return [Made(batch, header, outer[0] if _stays(outer, records, settings.magic, codec, target) else None)]


def _stays(outer: list[memoryview], records: list[_Kept], magic: int, codec: int, target: int) -> bool:
    """Whether a log keeps what was sent: one compressed message, whose records need no other offsets."""
    return (
        len(outer) == 1
        and outer[0][16] == magic == 1
        and 0 != codec == target
        and all(each.offset == number for number, each in enumerate(records))
    )


def batch_with(records: list[Record], codec: int) -> tuple[bytearray, BatchHeader]:
    """A batch of at least one record, whatever their offsets are, without producer id."""
    return at_once(_written([_kept(each.timestamp, each.key, each.value) for each in records], codec))


def _written(records: list[_Kept], codec: int) -> Generator[None, None, tuple[bytearray, BatchHeader]]:
    body = bytearray()
    base, delta = records[0].timestamp, 0
    for some in portions(records, MANY):
        for record in some:
            one = b"\0" + varint_of(record.timestamp - base) + varint_of(delta) + record.rest
            body += varint_of(len(one)) + one
            delta += 1
        yield
    latest = max(each.timestamp for each in records)
    header = BatchHeader(0, 0, -1, MAGIC, 0, codec, delta - 1, base, latest, *_NO_PRODUCER, delta)
    batch = batch_of(header, compress(codec, bytes(body)))
    return batch, record_batch.header_of(batch)


def _kept(timestamp: int, key: bytes | None, value: bytes | None, offset: int = 0) -> _Kept:
    return _Kept(timestamp, _sized(key) + _sized(value) + b"\0", offset)


def _sized(data: bytes | None) -> bytes:
    return b"\1" if data is None else varint_of(len(data)) + data


def _codec_of(unit: memoryview) -> int:
    return unit[ATTRIBUTES_AT if unit[16] == MAGIC else _ATTRIBUTES_AT] & COMPRESSION_MASK


def _outer(
    data: memoryview, settings: TopicSettings, *, mixed: bool
) -> Generator[None, None, list[memoryview]]:
    """The whole messages and batches; what is cut off at the end is dropped."""
    found: list[memoryview] = []
    while True:
        try:
            size = record_batch.next_batch(data)
        except CorruptBatchError:
            raise BatchError(ErrorCode.CORRUPT_MESSAGE) from None
        if not size:
            return found
        if size > settings.max_message_bytes:
            raise BatchError(ErrorCode.MESSAGE_TOO_LARGE)
        unit, data = data[:size], data[size:]
        if unit[16] > (MAGIC if mixed else 1):
            raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
        if not _is_intact(unit):
            raise BatchError(ErrorCode.CORRUPT_MESSAGE)
        if _codec_of(unit) > Compression.ZSTD:
            raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR)
        found.append(unit)
        if len(found) > MAX_RECORDS:
            raise _too_many()
        if not len(found) % MANY:
            yield


def _is_intact(unit: memoryview) -> bool:
    """Whether its CRC is right."""
    if unit[16] == MAGIC:
        return len(unit) >= HEADER_BYTES and record_batch.crc_matches(unit, record_batch.header_of(unit))
    return message_set.is_intact(unit)


def _of_batch(unit: memoryview) -> list[_Kept]:
    header = record_batch.header_of(unit)
    try:
        return [
            _Kept(span.timestamp, bytes(span.body[span.key : span.end]))
            for span in record_batch.spans(header, unit)
        ]
    except (ValueError, IndexError):
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True) from None


def _of_message(
    unit: memoryview, settings: TopicSettings, *, marks_tolerated: bool
) -> Generator[None, None, list[_Kept]]:
    message = _read(unit)
    if message.codec:
        found = yield from _inner(message, settings)
    else:
        found = [_record(message, message)]
    if _is_marked(message) and (
        not marks_tolerated
        or settings.log_append_time
        or any(each.timestamp == NO_TIMESTAMP for each in found)
    ):
        # Producers should not say that a broker has set a timestamp (`LogValidator.validateTimestamp`).
        raise BatchError(ErrorCode.INVALID_TIMESTAMP, in_log=True)
    return found


def _read(unit: memoryview) -> Message:
    """A message, as brokers read it: whatever is left behind its value is passed over."""
    try:
        return message_set.message_in(unit)
    except CorruptBatchError:
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True) from None


def _inner(wrapper: Message, settings: TopicSettings) -> Generator[None, None, list[_Kept]]:
    if wrapper.value is None or wrapper.codec == Compression.ZSTD:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    inner: list[memoryview] = []
    try:
        plain = message_set.wrapped(wrapper, settings.max_decompressed_bytes)
        while size := record_batch.next_batch(plain):
            if plain[16] >= MAGIC:
                # Kafka fails when it says what is wrong.
                raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True)
            if plain[16] != wrapper.magic:
                raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
            inner.append(plain[:size])
            if len(inner) > MAX_RECORDS:
                raise _too_many()
            plain = plain[size:]
            if not len(inner) % MANY:
                yield
    except TooLargeError as error:
        raise BatchError(ErrorCode.INVALID_RECORD, str(error), in_log=True) from None
    except CorruptBatchError:
        raise BatchError(ErrorCode.CORRUPT_MESSAGE) from None
    except ValueError:
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True) from None
    if not inner or any(map(_codec_of, inner)):
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    last = int.from_bytes(inner[-1][:8], signed=True)
    if wrapper.magic and 0 != wrapper.offset < last:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    # Some clients leave the offset 0.
    first = wrapper.offset - last if wrapper.offset else 0
    found: list[_Kept] = []
    for some in portions(inner, MANY):
        if not all(map(_is_intact, some)):
            raise BatchError(ErrorCode.CORRUPT_MESSAGE)
        found += [_record(wrapper, _read(each), first) for each in some]
        yield
    return found


def _record(outer: Message, message: Message, first: int = 0) -> _Kept:
    timestamp = outer.timestamp if _is_marked(outer) else message.timestamp
    return _kept(timestamp, message.key, message.value, first + message.offset)


def _is_marked(message: Message) -> bool:
    """Whether it says that a broker has set its timestamp."""
    return bool(message.magic and message.attributes & LOG_APPEND_TIME)


def _too_many() -> BatchError:
    message = f"mockbroker takes at most {MAX_RECORDS} messages of magic 0 and 1 at a time"
    return BatchError(ErrorCode.INVALID_RECORD, message, in_log=True)
