"""Appends one partition's batch of a Produce, and what follows from that for the answer."""

from collections.abc import Callable
from typing import Final

from ..cluster.call import Call
from ..log.log import Log
from ..log.producer_state import AppendedBatch, SequenceError, last_sequence
from ..log.validation import BatchError, validate
from ..outcome import CLOSE, NO_ANSWER, PARKED
from ..protocol import record_batch
from ..protocol.errors import ErrorCode
from ..protocol.messages.produce import PartitionProduceResponse, ProduceRequest, ProduceResponse
from ..protocol.record_batch import BatchHeader
from ..replication.partition import Partition
from .leaders import produce_endpoints
from .produced_partitions import invalid, led_by_other, refused
from .unreplicated import Unreplicated

ACKS: Final = (-1, 0, 1)


def append(
    call: Call, partition: Partition, records: bytes | memoryview, header: BatchHeader, acks: int
) -> PartitionProduceResponse:
    """Appends one partition's batch, and returns the result."""
    index = partition.index
    if partition.leader != call.broker.id:
        return led_by_other(partition)
    log = partition.log
    if acks == -1 and partition.is_under_min_isr:
        return refused(index, ErrorCode.NOT_ENOUGH_REPLICAS, None, [], log.start_offset)
    now_ms = call.environment.now_ms
    size = len(records)
    try:
        settings, place = log.segments.settings, (partition.topic.name, index)
        batch, header, max_timestamp = validate(records, header, settings, place, now_ms)
        if len(batch) > settings.segment_bytes:
            raise BatchError(ErrorCode.RECORD_LIST_TOO_LARGE)
        producer_id, epoch, sequence, count = header[9:]
        if producer_id >= 0:
            producers = log.producers
            earlier = producers.check(producer_id, epoch, sequence, count, log.end_offset)
            if earlier is not None:
                partition.stats.appended(size, count)
                return PartitionProduceResponse(
                    index, 0, earlier.base_offset, earlier.timestamp, log.start_offset
                )
            transactional = header[5] & record_batch.TRANSACTIONAL
            if producers.transactions.open and not transactional:
                producers.check_outside(producer_id)
    except BatchError as error:
        return invalid(call, partition, error)
    except SequenceError as error:
        return refused(index, error.code, None, [], log.start_offset)
    base_offset = log.end_offset
    record_batch.place(batch, base_offset, partition.leader_epoch)
    append_time = settings.log_append_time
    if append_time or max_timestamp != header[8] or header[5] & record_batch.LOG_APPEND_TIME:
        record_batch.stamp(batch, max_timestamp, append_time)
    remember = None
    if producer_id >= 0:
        last = base_offset + count - 1
        done = AppendedBatch(sequence, last_sequence(sequence, count), base_offset, last, max_timestamp)
        remember = _producer(producer_id, epoch, done, transactional)
    partition.stats.appended(size, count)
    partition.append_as_leader(batch, base_offset, count, max_timestamp, remember)
    return PartitionProduceResponse(index, 0, base_offset, now_ms if append_time else -1, log.start_offset)


def _producer(producer_id: int, epoch: int, done: AppendedBatch, transactional: int) -> Callable[[Log], None]:
    """A function that records in a log that the producer appended this."""
    return lambda log: log.producers.appended(producer_id, epoch, done, transactional)


def conclude(
    call: Call, request: ProduceRequest, answer: ProduceResponse, failed: bool, behind: bool
) -> object:
    if request.acks == 0:
        return CLOSE if failed else NO_ANSWER
    if failed and call.version >= 10:
        answer.node_endpoints = produce_endpoints(call, answer)
    if behind and request.acks == -1 and Unreplicated(call, request, answer).left:
        return PARKED
    return answer
