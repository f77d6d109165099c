"""May a client's batch be appended? (`UnifiedLog.analyzeAndValidateRecords`, `LogValidator.java`.)

Error texts are those a real broker sends; most refusals have none.
"""

from typing import TYPE_CHECKING, Final

from ..protocol import record_batch
from ..protocol.compression import Compression
from ..protocol.errors import ErrorCode
from ..protocol.record_batch import (
    COMPRESSION_MASK,
    CONTROL,
    Batch,
    BatchHeader,
    CorruptBatchError,
    InvalidRecordError,
)

if TYPE_CHECKING:
    from ..cluster.partition import Partition

_SHOWN: Final = 3
"""How many record errors the message of the whole batch repeats."""


class BatchError(Exception):
    """A batch that is refused. `records` are (index, message) of the records to blame (KIP-467); `in_log`
    says whether the answer tells the log start offset, which it does once the log looked at the batch."""

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
"""A batch the log may keep, its header, and the largest timestamp it really has."""


def validate(data: bytes | memoryview, version: int, partition: "Partition", now_ms: int) -> Checked:
    """The batch of a Produce request of `version`. BatchError when it is refused."""
    only, header = data, record_batch.common(data)
    if header is None:
        try:
            only = record_batch.only_batch(data)
        except CorruptBatchError as error:
            raise BatchError(ErrorCode.CORRUPT_MESSAGE, str(error)) from None
        except InvalidRecordError:
            raise BatchError(ErrorCode.INVALID_RECORD) from None
        header = record_batch.header_of(only)
    base_offset, _, _, _, _, attributes, _, base_timestamp, max_timestamp, _, _, _, _ = header
    if version < 7 and attributes & COMPRESSION_MASK >= Compression.ZSTD:
        known = attributes & COMPRESSION_MASK == Compression.ZSTD
        raise BatchError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE if known else ErrorCode.UNKNOWN_SERVER_ERROR)
    if base_offset:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    settings = partition.topic.settings
    if len(only) > settings.max_message_bytes:
        raise BatchError(ErrorCode.MESSAGE_TOO_LARGE)
    # A view that may be written to was handed over; of any other this is the one copy there is.
    batch = only if type(only) is memoryview and not only.readonly else bytearray(only)
    if not record_batch.crc_matches(batch, header):
        raise BatchError(ErrorCode.CORRUPT_MESSAGE)
    earliest, latest = _consistent(batch, header)
    if settings.compacted:
        _keys(batch, partition)
    if settings.log_append_time:
        return batch, header, now_ms
    newest = now_ms + settings.timestamp_after_max_ms
    oldest = now_ms - settings.timestamp_before_max_ms
    if base_timestamp + latest > newest or base_timestamp + earliest < oldest:
        _timestamps(batch, oldest, newest)
    return batch, header, base_timestamp + latest if base_timestamp >= 0 else max_timestamp


def _consistent(batch: Batch, header: BatchHeader) -> tuple[int, int]:
    """Holds the header against itself and the records; the smallest and largest timestamp delta."""
    _, _, _, _, _, attributes, last_offset_delta, _, _, producer_id, _, sequence, count = header
    if (
        count <= 0
        or last_offset_delta + 1 != count
        or attributes & CONTROL
        or (producer_id >= 0 and sequence < 0)
    ):
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    try:
        found, earliest, latest = record_batch.scan(batch, header)
        if attributes & COMPRESSION_MASK and found == count:
            _offsets_in_order(batch)
    except InvalidRecordError:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True) from None
    except (ValueError, IndexError):
        # Kafka fails there without an error code of its own.
        raise BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True) from None
    if found != count:
        raise BatchError(ErrorCode.INVALID_RECORD, in_log=True)
    return earliest, latest


def _offsets_in_order(batch: Batch) -> None:
    base_offset = record_batch.header_of(batch).base_offset
    for index, record in enumerate(record_batch.records(batch)):
        if record.offset != base_offset + index:
            raise ValueError(f"offset delta {record.offset - base_offset} of record {index}")


def _timestamps(batch: Batch, oldest: int, newest: int) -> None:
    bad = tuple(
        (
            index,
            (
                f"Timestamp {record.timestamp} of message with offset {record.offset} is out of range. "
                f"The timestamp should be within [{oldest}, {newest}]"
            ),
        )
        for index, record in enumerate(record_batch.records(batch))
        if record.timestamp != -1 and not oldest <= record.timestamp <= newest
    )
    if bad:
        raise BatchError(
            ErrorCode.INVALID_TIMESTAMP,
            "One or more records have been rejected due to invalid timestamp",
            records=bad,
            in_log=True,
        )


def _keys(batch: Batch, partition: "Partition") -> None:
    text = (
        "Compacted topic cannot accept message without key in topic partition "
        f"{partition.topic.name}-{partition.index}"
    )
    bad = tuple((i, text) for i, record in enumerate(record_batch.records(batch)) if record.key is None)
    if bad:
        shown = ", ".join(f"RecordError(batchIndex={i}, message='{text}')" for i, text in bad[:_SHOWN])
        raise BatchError(
            ErrorCode.INVALID_RECORD,
            f"One or more records have been rejected due to {len(bad)} record errors in total, "
            f"and only showing the first three errors at most: [{shown}]",
            records=bad,
            in_log=True,
        )
