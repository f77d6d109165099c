"""What a broker learns from the bytes of a Produce request before it uses a log.

Sources: `RequestUtils.hasTransactionalRecords`, `ProduceRequest.validateRecords`,
`ByteBufferLogInputStream.java`.
"""

from typing import Final

from ..log.validation import BatchError
from ..protocol import record_batch
from ..protocol.compression import Compression
from ..protocol.errors import ErrorCode
from ..protocol.messages.produce import ProduceRequest
from ..protocol.record_batch import BatchHeader, CorruptBatchError

ZSTD_SINCE: Final = 7
BATCHES_SINCE: Final = 3
"""Before, a request may have messages of magic 0 and 1."""
MESSAGES: Final = BatchHeader(0, 0, -1, 1, 0, 0, 0, -1, -1, -1, -1, -1, 0)
"""In place of a batch's header."""
_PRODUCER_ID_AT: Final = 43
_NEGATIVE: Final = 0x80
_TO_EPOCH, _TO_COUNT = 51, 57
"""Where a batch's producer id ends, which a broker reads before it checks the size; and where its sequence
ends, which it also reads if the batch's transaction is verified."""


class RequestError(Exception):
    """The whole request is refused, with one error for every partition."""

    def __init__(self, code: ErrorCode, message: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def first_is_transactional(request: ProduceRequest) -> bool:
    """Whether any partition's first batch claims to belong to a transaction.

    RequestError: CORRUPT_MESSAGE if an earlier batch can't be told apart from the next.
    """
    for topic in request.topic_data:
        for asked in topic.partition_data:
            records = asked.records
            if records is None:
                continue
            header = record_batch.common(records)
            if header is not None:
                if header[5] & record_batch.TRANSACTIONAL:
                    return True
                continue
            try:
                size = record_batch.next_batch(records)
            except CorruptBatchError as error:
                raise RequestError(ErrorCode.CORRUPT_MESSAGE, str(error)) from None
            if size and records[16] == 2 and records[record_batch.ATTRIBUTES_AT] & record_batch.TRANSACTIONAL:
                return True
    return False


def only_batch(
    records: bytes | memoryview, version: int, verified: bool
) -> tuple[bytes | memoryview, BatchHeader]:
    """The one batch of magic 2 that each partition has; an incomplete one after it is dropped. `verified` is
    whether transactions are verified (KIP-890).

    BatchError: INVALID_RECORD, CORRUPT_MESSAGE, UNSUPPORTED_COMPRESSION_TYPE. RequestError:
    UNKNOWN_SERVER_ERROR if a broker fails.
    """
    header = record_batch.common(records)
    if header is not None and (version >= ZSTD_SINCE or header[5] & record_batch.COMPRESSION_MASK < 4):
        return records, header
    try:
        size = record_batch.next_batch(records)
        if not size or records[16] != 2:
            raise BatchError(ErrorCode.INVALID_RECORD)
        if version < ZSTD_SINCE:
            codec = records[record_batch.ATTRIBUTES_AT] & record_batch.COMPRESSION_MASK
            if codec > Compression.ZSTD:
                raise RequestError(ErrorCode.UNKNOWN_SERVER_ERROR)
            if codec == Compression.ZSTD:
                raise BatchError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
        if record_batch.next_batch(records[size:]):
            raise BatchError(ErrorCode.INVALID_RECORD)
    except CorruptBatchError:
        raise BatchError(ErrorCode.CORRUPT_MESSAGE) from None
    if size < _TO_EPOCH or (verified and size < _TO_COUNT and _in_transaction(records)):
        raise RequestError(ErrorCode.UNKNOWN_SERVER_ERROR)
    if size < record_batch.HEADER_BYTES:
        raise BatchError(ErrorCode.CORRUPT_MESSAGE)
    only = records[:size]
    return only, record_batch.header_of(only)


def any_batch(
    records: bytes | memoryview, verified: bool, mixed: bool
) -> tuple[bytes | memoryview, BatchHeader]:
    """What Produce up to v2 has of a partition: a batch as in newer versions, or messages of magic 0 and 1,
    with `MESSAGES` as their header, which may be none. If it may be `mixed`, batches may be among these.

    Raises as `only_batch` does.
    """
    try:
        size = record_batch.next_batch(records)
        if not size or records[16] < 2 or (mixed and record_batch.next_batch(records[size:])):
            return records, MESSAGES
    except CorruptBatchError:
        raise BatchError(ErrorCode.CORRUPT_MESSAGE) from None
    return only_batch(records, ZSTD_SINCE, verified)


def _in_transaction(records: bytes | memoryview) -> bool:
    """Whether a batch of magic 2 belongs to a transaction and has a producer id."""
    marked = records[record_batch.ATTRIBUTES_AT] & record_batch.TRANSACTIONAL
    return bool(marked) and records[_PRODUCER_ID_AT] < _NEGATIVE
