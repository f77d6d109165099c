"""Appends to topics that keep messages of magic 0 and 1 (`LogValidator.java`)."""

from collections.abc import Generator

from ..cluster.call import Call
from ..log.old_batches import NotKeptError, keeping, move
from ..log.validation import BatchError, validate
from ..protocol import record_batch
from ..protocol.errors import ErrorCode
from ..protocol.messages.produce import PartitionProduceResponse
from ..protocol.record_batch import COMPRESSION_MASK, TRANSACTIONAL, BatchHeader
from ..replication.old_append import append_messages
from ..replication.partition import Partition
from .produced_partitions import invalid, led_by_other, refused


def append_as_messages(
    call: Call,
    partition: Partition,
    records: bytes | memoryview,
    header: BatchHeader,
    acks: int,
    sent: memoryview | None = None,
) -> Generator[None, None, PartitionProduceResponse]:
    """Appends one partition's batch, or the message that was `sent` for it, in parts; returns the result."""
    if refusal := _refusal(partition, acks):
        return refusal
    log, settings, size = partition.log, partition.settings, len(records)
    now_ms, place = call.environment.now_ms, (partition.topic.name, partition.index)
    try:
        batch, header, _ = validate(records, header, settings, place, now_ms)
        if header.producer_id >= 0:
            # Kafka only finds out why it can't rewrite a batch if it has to look into it first.
            fails = header.attributes & TRANSACTIONAL and not header.attributes & COMPRESSION_MASK
            error = ErrorCode.UNKNOWN_SERVER_ERROR if fails else ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
            raise BatchError(error, in_log=True)
        record_batch.place(batch, log.end_offset, partition.leader_epoch)
        if settings.log_append_time:
            record_batch.stamp(batch, now_ms, append_time=True)
        messages = yield from keeping(batch, settings.magic, sent)
        if max(map(len, messages)) > settings.max_message_bytes:
            raise BatchError(ErrorCode.MESSAGE_TOO_LARGE)
        if sum(map(len, messages)) > settings.segment_bytes:
            raise BatchError(ErrorCode.RECORD_LIST_TOO_LARGE)
    except NotKeptError:
        # Kafka has no error for that.
        return invalid(call, partition, BatchError(ErrorCode.UNKNOWN_SERVER_ERROR, in_log=True))
    except BatchError as refused_by_log:
        return invalid(call, partition, refused_by_log)
    if refusal := _refusal(partition, acks):
        return refusal
    base_offset = log.end_offset
    move(messages, base_offset)
    partition.stats.appended(size, header.record_count)
    append_messages(partition, messages)
    time_ms = now_ms if settings.log_append_time else -1
    return PartitionProduceResponse(partition.index, 0, base_offset, time_ms, log.start_offset)


def _refusal(partition: Partition, acks: int) -> PartitionProduceResponse | None:
    """Why the partition takes no records now."""
    if not partition.leads:
        return led_by_other(partition)
    if acks == -1 and partition.is_under_min_isr:
        start = partition.log.start_offset
        return refused(partition.index, ErrorCode.NOT_ENOUGH_REPLICAS, None, [], start)
    return None
