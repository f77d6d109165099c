"""Batches that are rewritten because of `compression.type` (`LogValidator.buildRecordsAndAssignOffsets`)."""

from typing import Final

from ..protocol.batch_writing import batch_of, varint_of
from ..protocol.compression import Compression, compress
from ..protocol.record_batch import TRANSACTIONAL, Batch, BatchHeader, spans

CODECS: Final = {"uncompressed": Compression.NONE} | {each.name.lower(): each for each in Compression}
"""By value of `compression.type`, except `producer`."""
_NO_EPOCH: Final = -1
_NO_TIMESTAMP: Final = -1


def recompressed(batch: Batch, header: BatchHeader, codec: int) -> tuple[Batch, BatchHeader]:
    """The records as a batch of `codec`, with consecutive offsets and without meaningless attributes.

    ValueError if Kafka fails too (`MemoryRecordsBuilder.java`): for a producer id without an epoch, a
    transaction without a producer id, a timestamp below -1.
    """
    transactional = header.attributes & TRANSACTIONAL
    if header.producer_id < 0 and transactional:
        raise ValueError("a transaction without a producer id")
    if header.producer_id >= 0 and header.producer_epoch == _NO_EPOCH:
        raise ValueError("a producer id without an epoch")
    body = bytearray()
    base_timestamp = latest = 0
    for index, span in enumerate(spans(header, batch)):
        if not index:
            base_timestamp = latest = span.timestamp
        if span.timestamp < _NO_TIMESTAMP:
            raise ValueError(f"a record of {span.timestamp}")
        latest = max(latest, span.timestamp)
        one = b"\0" + varint_of(span.timestamp - base_timestamp) + varint_of(index)
        one += bytes(span.body[span.key : span.end])
        body += varint_of(len(one)) + one
    made = header._replace(
        attributes=codec | transactional,
        last_offset_delta=header.record_count - 1,
        base_timestamp=base_timestamp,
        max_timestamp=latest,
    )
    written = batch_of(made, compress(codec, bytes(body)))
    return written, made
