"""Messages of magic 0 and 1 in Produce requests, which become a batch of magic 2 (`LogValidator.java`).

What is wrong with the records themselves is found when that batch is validated.
"""

from typing import Final

from ..configs import TopicSettings
from ..protocol import message_set, record_batch
from ..protocol.batch_writing import batch_of, varint_of
from ..protocol.compression import Compression, TooLargeError, compress
from ..protocol.errors import ErrorCode
from ..protocol.message_set import Message
from ..protocol.record_batch import (
    LOG_APPEND_TIME,
    Batch,
    BatchHeader,
    CorruptBatchError,
    Record,
)
from .recompression import CODECS
from .validation import NO_TIMESTAMP, BatchError

MOST_MESSAGES: Final = 25_000
"""In a set: they are converted in one step."""
_NO_PRODUCER: Final = (-1, -1, -1)


def converted(
    data: memoryview, settings: TopicSettings, *, mixed: bool, marks_tolerated: bool
) -> tuple[bytearray, BatchHeader] | None:
    """The batch with the records of a message set, None if it has no message. BatchError if it is refused.

    `mixed` is whether a set may have several compressed messages, and both formats; `marks_tolerated` is
    whether a producer may say that a broker has set a timestamp.
    """
    outer = _outer(data, settings)
    if not outer:
        return None
    codec = next((each.codec for each in reversed(outer) if each.codec), 0)
    if not mixed and ((codec and len(outer) > 1) or len({each.magic for each in outer}) > 1):
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    records: list[Record] = []
    for message in outer:
        found = _inner(message, settings) if message.codec else [_record(message, message)]
        records += found
        if len(records) > MOST_MESSAGES:
            raise _too_many()
        if _is_marked(message) and (
            not marks_tolerated
            or settings.log_append_time
            or any(each.timestamp == NO_TIMESTAMP for each in found)
        ):
            # Producers should not say that a broker has set a timestamp (`LogValidator.validateTimestamp`).
            raise BatchError(ErrorCode.INVALID_TIMESTAMP, in_log=True)
    if any(each.timestamp < NO_TIMESTAMP for each in records):
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True)
    kept = settings.compression_type
    return batch_with(records, codec if kept == "producer" else CODECS[kept])


def check_old_format(batch: Batch, header: BatchHeader) -> None:
    """BatchError for a batch that can't be kept as messages of magic 0 and 1."""
    if header.producer_id >= 0:
        raise BatchError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, in_log=True)
    for span in record_batch.spans(header, batch):
        _, at = record_batch.field(span.body, span.key)
        _, at = record_batch.field(span.body, at)
        if span.body[at]:
            # Kafka has no error for headers there.
            raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True)


def batch_with(records: list[Record], codec: int) -> tuple[bytearray, BatchHeader]:
    """A batch of at least one record, whatever their offsets are, without producer id."""
    body = bytearray()
    base = records[0].timestamp
    for delta, record in enumerate(records):
        one = b"\0" + varint_of(record.timestamp - base) + varint_of(delta)
        one += _sized(record.key) + _sized(record.value) + b"\0"
        body += varint_of(len(one)) + one
    latest = max(each.timestamp for each in records)
    last = len(records) - 1
    header = BatchHeader(0, 0, -1, 2, 0, codec, last, base, latest, *_NO_PRODUCER, len(records))
    batch = batch_of(header, compress(codec, bytes(body)))
    return batch, record_batch.header_of(batch)


def _sized(data: bytes | None) -> bytes:
    return b"\1" if data is None else varint_of(len(data)) + data


def _outer(data: memoryview, settings: TopicSettings) -> list[Message]:
    """The whole messages; what is cut off at the end is dropped."""
    found: list[Message] = []
    while True:
        try:
            size = record_batch.next_batch(data)
            if not size:
                return found
            if size > settings.max_message_bytes:
                raise BatchError(ErrorCode.MESSAGE_TOO_LARGE)
            if data[16] > 1:
                raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
            message = message_set.read_message(data)
        except CorruptBatchError:
            raise BatchError(ErrorCode.CORRUPT_MESSAGE) from None
        if not message_set.crc_matches(data, message):
            raise BatchError(ErrorCode.CORRUPT_MESSAGE)
        if message.codec > Compression.ZSTD:
            raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR)
        found.append(message)
        if len(found) > MOST_MESSAGES:
            raise _too_many()
        data = data[size:]


def _inner(wrapper: Message, settings: TopicSettings) -> list[Record]:
    if wrapper.value is None or wrapper.codec == Compression.ZSTD:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    inner: list[tuple[Message, memoryview]] = []
    try:
        plain = message_set.wrapped(wrapper, settings.max_decompressed_bytes)
        while size := record_batch.next_batch(plain):
            if plain[16] > 1:
                # Kafka fails when it says what is wrong.
                raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True)
            if plain[16] != wrapper.magic:
                raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
            inner.append((message_set.read_message(plain), plain[:size]))
            if len(inner) > MOST_MESSAGES:
                raise _too_many()
            plain = plain[size:]
    except TooLargeError as error:
        raise BatchError(ErrorCode.INVALID_RECORD, str(error), in_log=True) from None
    except CorruptBatchError:
        raise BatchError(ErrorCode.CORRUPT_MESSAGE) from None
    except ValueError:
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True) from None
    if not inner or any(each.codec for each, _ in inner):
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    if wrapper.magic and 0 != wrapper.offset < inner[-1][0].offset:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    if any(not message_set.crc_matches(raw, each) for each, raw in inner):
        raise BatchError(ErrorCode.CORRUPT_MESSAGE)
    return [_record(wrapper, each) for each, _ in inner]


def _record(outer: Message, message: Message) -> Record:
    time = outer.timestamp if _is_marked(outer) else message.timestamp
    return Record(0, time, message.key, message.value)


def _is_marked(message: Message) -> bool:
    """Whether it says that a broker has set its timestamp."""
    return bool(message.magic and message.attributes & LOG_APPEND_TIME)


def _too_many() -> BatchError:
    message = f"mockbroker takes at most {MOST_MESSAGES} messages of magic 0 and 1 at a time"
    return BatchError(ErrorCode.INVALID_RECORD, message, in_log=True)
