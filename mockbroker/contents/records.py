"""Records of a replica's log, as stored or as a consumer reads them."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..policies.fetching.consumer_read_limit import consumer_read_limit
from ..protocol import record_batch
from ..protocol.batch_writing import marker_of
from ..protocol.compression import Compression
from ..protocol.record_batch import (
    COMPRESSION_MASK,
    CONTROL,
    LOG_APPEND_TIME,
    TRANSACTIONAL,
    BatchHeader,
    RecordSpan,
)
from .values import ControlType, IsolationLevel, Record, TransactionOutcome

if TYPE_CHECKING:
    from ..cluster.topic import TopicPartition
    from ..log.log import Log
    from ..protocol.record_batch import Batch

_SEQUENCES = 1 << 31


class Place(NamedTuple):
    """Whose log is read, and the transactional id of each producer id."""

    partition: "TopicPartition"
    log: "Log"
    transactional_ids: Mapping[int, str]


def read(
    place: Place, isolation_level: IsolationLevel | None, offset: int, *, control_records: bool
) -> Iterator[Record]:
    """Records from `offset` on: with an isolation level what a consumer gets, up to the high watermark or the
    last stable offset; without one everything that is stored, up to the log end offset."""
    log = place.log
    start, end = max(offset, log.start_offset), log.end_offset
    if isolation_level is not None:
        end = log.high_watermark if isolation_level == "read_uncommitted" else log.last_stable_offset
        if (
            start < end == log.high_watermark
            and place.partition.policies[consumer_read_limit] == "log-end-offset"
        ):
            end = log.end_offset
    for batch in log.batches_between(start, end):
        for record in _records(place, batch, control_records):
            aborted = isolation_level == "read_committed" and record.transaction == "aborted"
            if start <= record.offset < end and not aborted:
                yield record


def _records(place: Place, batch: "Batch", control_records: bool) -> Iterator[Record]:
    header = record_batch.header_of(batch)
    control: ControlType | None = None
    if header.attributes & CONTROL:
        if not control_records:
            return
        marker = marker_of(batch, header)
        control = None if marker is None else "commit" if marker.committed else "abort"
    partition, producer_id = place.partition, header.producer_id if header.producer_id >= 0 else None
    outcome: TransactionOutcome | None = None
    transactional_id = None
    if header.attributes & TRANSACTIONAL and producer_id is not None:
        outcome = _outcome(place.log, header)
        transactional_id = place.transactional_ids.get(producer_id)
    if control is not None:
        outcome = "committed" if control == "commit" else "aborted"
    compression = Compression(header.attributes & COMPRESSION_MASK).name.lower()
    for span in record_batch.spans(header, batch):
        key, at = record_batch.field(span.body, span.key)
        value, at = record_batch.field(span.body, at)
        yield Record(
            partition.topic.name,
            partition.index,
            span.offset,
            key,
            value,
            tuple(_headers(span, at)),
            span.timestamp,
            "LogAppendTime" if header.attributes & LOG_APPEND_TIME else "CreateTime",
            header.leader_epoch,
            producer_id,
            None if producer_id is None else header.producer_epoch,
            _sequence(header, span) if producer_id is not None and header.base_sequence >= 0 else None,
            transactional_id,
            outcome,
            control,
            span.end - span.start,
            compression,
        )


def _headers(span: RecordSpan, at: int) -> Iterator[tuple[str, bytes | None]]:
    count, at = record_batch.varint(span.body, at)
    for _ in range(count):
        name, at = record_batch.field(span.body, at)
        value, at = record_batch.field(span.body, at)
        yield (name or b"").decode(errors="replace"), value


def _sequence(header: BatchHeader, span: RecordSpan) -> int:
    """Sequences wrap to 0 (`DefaultRecordBatch.incrementSequence`)."""
    return (header.base_sequence + span.offset - header.base_offset) % _SEQUENCES


def _outcome(log: "Log", header: BatchHeader) -> TransactionOutcome:
    """The outcome of the batch's transaction, by the replica's own transaction index."""
    transactions, producer_id, offset = log.producers.transactions, header.producer_id, header.base_offset
    if any(first <= offset and each == producer_id for first, each in transactions.open.items()):
        return "ongoing"
    for each in transactions.aborted:
        if each.producer_id == producer_id and each.first_offset <= offset <= each.last_offset:
            return "aborted"
    return "committed"
