"""Checks whether a client's batch may be appended (`UnifiedLog.analyzeAndValidateRecords`,
`LogValidator.java`).

Error messages are those of real brokers; most errors have none.
"""

from typing import Final

from ..configs import TopicSettings
from ..protocol import record_batch, record_scan
from ..protocol.compression import Compression, TooLargeError, decompress
from ..protocol.errors import ErrorCode
from ..protocol.record_batch import (
    COMPRESSION_MASK,
    CONTROL,
    HEADER_BYTES,
    LOG_APPEND_TIME,
    MAX_RECORDS,
    Batch,
    BatchHeader,
    InvalidRecordError,
    Record,
)
from .recompression import CODECS, recompressed

NO_TIMESTAMP: Final = -1
_NEWEST_CODEC: Final = int(Compression.ZSTD)
_TIMES: Final = 1 << 63
_EARLIEST: Final = -_TIMES
_LEAST_RECORD: Final = 7
"""The size of a record without key, value and headers."""
_COPIED_BYTES: Final = 256 * 1024
"""Bytes are read faster than views; above this size the copy costs more than that saves."""
_SHOWN: Final = 3
"""How many record errors are repeated in the batch's message."""


class BatchError(Exception):
    """A batch that is refused. `records` are (index, message) of the invalid records (KIP-467); `in_log` is
    whether the answer has the log start offset, as it has if the log checked the batch."""

    def __init__(
        self,
        code: ErrorCode,
        message: str | None = None,
        *,
        records: tuple[tuple[int, str], ...] = (),
        in_log: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.records = records
        self.in_log = in_log


Checked = tuple[Batch, BatchHeader, int]
"""A batch to be appended, its header, and its real largest timestamp."""


def validate(
    data: bytes | memoryview,
    header: BatchHeader,
    settings: TopicSettings,
    place: tuple[str, int],
    now_ms: int,
) -> Checked:
    """Checks the only batch of a partition (topic and index in `place`) in a Produce request. BatchError if
    it is refused. A header of magic 0 or 1 says that it was made of messages, each of which had a size of its
    own."""
    (
        base_offset,
        _,
        _,
        magic,
        _,
        attributes,
        last_offset_delta,
        base_timestamp,
        max_timestamp,
        producer_id,
        _,
        sequence,
        count,
    ) = header
    if base_offset:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    if len(data) > settings.max_message_bytes and magic == record_batch.MAGIC:
        raise BatchError(ErrorCode.MESSAGE_TOO_LARGE)
    # A writable view was handed over; of any other, this is the only copy.
    batch = data if type(data) is memoryview and not data.readonly else bytearray(data)
    if not record_batch.crc_matches(batch, header):
        raise BatchError(ErrorCode.CORRUPT_MESSAGE)
    oldest = now_ms - settings.timestamp_before_max_ms
    newest = now_ms + settings.timestamp_after_max_ms
    if (
        count == 1
        and not (attributes or last_offset_delta or settings.compacted or settings.log_append_time)
        and (producer_id < 0 or sequence >= 0)
        and settings.compression_type == "producer"
        and NO_TIMESTAMP <= base_timestamp <= newest
        and base_timestamp >= oldest
        and record_scan.is_usual(batch, HEADER_BYTES)
    ):
        # What follows would find the same, in more steps.
        return batch, header, base_timestamp
    codec = attributes & COMPRESSION_MASK
    if codec > _NEWEST_CODEC:
        # Kafka fails there without a specific error code.
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True)
    if (
        count <= 0
        or last_offset_delta + 1 != count
        or attributes & CONTROL
        or (producer_id >= 0 and sequence < 0)
    ):
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    kept = settings.compression_type
    target = codec if kept == "producer" else CODECS[kept]
    earliest, latest, in_order = _looked_through(batch, codec, count, settings, whole=target != codec)
    earliest += base_timestamp
    latest += base_timestamp
    if attributes & LOG_APPEND_TIME:
        earliest = latest = max_timestamp
    elif earliest < _EARLIEST or latest >= _TIMES:
        times = [_wrapped(record.timestamp) for record in record_batch.records(batch)]
        earliest, latest = min(times), max(times)
    append_time = settings.log_append_time
    if (
        settings.compacted
        or attributes & LOG_APPEND_TIME
        or (not append_time and (earliest < oldest or latest > newest))
    ):
        _blame(batch, header, settings, place, oldest, newest)
    latest = now_ms if append_time else max(NO_TIMESTAMP, latest)
    if target != codec:
        return *_recompressed(batch, header, target, settings), latest
    if not in_order:
        # Kafka would have to rewrite the records, of which it has read only half.
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True)
    return batch, header, latest


def _recompressed(
    batch: Batch, header: BatchHeader, codec: int, settings: TopicSettings
) -> tuple[Batch, BatchHeader]:
    try:
        made = recompressed(batch, header, codec)
    except ValueError:
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True) from None
    if len(made[0]) > settings.max_message_bytes and settings.magic == record_batch.MAGIC:
        raise BatchError(ErrorCode.MESSAGE_TOO_LARGE)
    return made


def _looked_through(
    batch: Batch, codec: int, count: int, settings: TopicSettings, *, whole: bool
) -> tuple[int, int, bool]:
    """Checks the records against their number; returns the smallest and largest timestamp delta, and
    whether the offset deltas are right, as far as Kafka checks. A batch that will be rewritten is read as
    a `whole`."""
    try:
        if codec:
            plain = decompress(codec, memoryview(batch)[HEADER_BYTES:], settings.max_decompressed_bytes)
            if count > MAX_RECORDS:
                raise _too_many(count, len(plain))
            if whole:
                return *record_scan.scan(bytes(plain), 0, count), True
            return record_scan.scan_skipping(bytes(plain), count, settings.max_decompressed_message_bytes)
        if count > MAX_RECORDS:
            raise _too_many(count, len(batch))
        records = bytes(batch) if count > 1 and len(batch) < _COPIED_BYTES else batch
        earliest, latest = record_scan.scan(records, HEADER_BYTES, count)
        return earliest, latest, True
    except InvalidRecordError:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True) from None
    except TooLargeError as error:
        # What 4.4 answers for a record beyond max.decompressed.message.bytes; no client sends that again.
        raise BatchError(ErrorCode.INVALID_RECORD, str(error), in_log=True) from None
    except ValueError:
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True) from None


def _too_many(count: int, size: int) -> ValueError:
    """The error for more records in `size` bytes than a broker accepts here."""
    if count > size // _LEAST_RECORD:
        return InvalidRecordError(f"{count} records in {size} bytes")
    return TooLargeError(f"{count} records: mockbroker takes at most {MAX_RECORDS} in a batch")


def _wrapped(value: int) -> int:
    """The sum as a Java long, which wraps."""
    return (value + _TIMES) % (2 * _TIMES) - _TIMES


def _blame(
    batch: Batch,
    header: BatchHeader,
    settings: TopicSettings,
    place: tuple[str, int],
    oldest: int,
    newest: int,
) -> None:
    """Raises BatchError if there are invalid records: first for missing keys, then for timestamps."""
    bad = []
    code = ErrorCode.INVALID_RECORD
    stamped = header.attributes & LOG_APPEND_TIME
    for index, record in enumerate(record_batch.records(batch)):
        time = _wrapped(record.timestamp)
        if settings.compacted and record.key is None:
            where = "{}-{}".format(*place)
            bad.append(
                (index, f"Compacted topic cannot accept message without key in topic partition {where}")
            )
        elif not settings.log_append_time and time != NO_TIMESTAMP:
            if not oldest <= time <= newest:
                code = ErrorCode.INVALID_TIMESTAMP
                text = (
                    f"Timestamp {time} of message with offset {record.offset} is out of range. "
                    f"The timestamp should be within [{oldest}, {newest}]"
                )
                bad.append((index, text))
        elif stamped:
            code = ErrorCode.INVALID_TIMESTAMP
            bad.append((index, _wrong_type(record, header)))
    if not bad:
        return
    message = "One or more records have been rejected due to invalid timestamp"
    if code is ErrorCode.INVALID_RECORD:
        shown = ", ".join(f"RecordError(batchIndex={i}, message='{text}')" for i, text in bad[:_SHOWN])
        message = (
            f"One or more records have been rejected due to {len(bad)} record errors in total, "
            f"and only showing the first three errors at most: [{shown}]"
        )
    raise BatchError(code, message, records=tuple(bad), in_log=True)


def _wrong_type(record: Record, header: BatchHeader) -> str:
    """What is wrong with a record whose timestamp type is that of a broker, if anything; a batch that stays
    compressed is only read in part."""
    key, value = (-1 if each is None else len(each) for each in (record.key, record.value))
    text = f"offset={record.offset}, timestamp={record.timestamp}, "
    if header.attributes & COMPRESSION_MASK:
        shown = f"PartialDefaultRecord({text}key={key} bytes, value={value} bytes)"
    else:
        shown = f"DefaultRecord({text}key={max(0, key)} bytes, value={max(0, value)} bytes)"
    return (
        f"Invalid timestamp type in message {shown}. Producer should not set timestamp type to LogAppendTime."
    )
