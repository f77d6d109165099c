"""Appends a batch to a topic whose records are kept as messages of magic 0 and 1."""

from collections.abc import Callable

from ..log.log import Log
from ..log.old_batches import keeping
from ..portions import at_once
from ..protocol.record_batch import Batch, OldBatch, header_of
from .partition import Partition


def append_converted(partition: Partition, batch: Batch) -> int:
    """Appends what becomes of a batch that has its place to the leader's log; returns the offset after it."""
    messages = at_once(keeping(batch, partition.settings.magic))
    partition.stats.appended(len(batch), header_of(batch).record_count)
    append_messages(partition, messages)
    return partition.log.end_offset


def append_messages(partition: Partition, messages: list[OldBatch]) -> None:
    """Appends a set of messages that have their offsets to the leader's log."""
    *first, last = messages
    before: Callable[[Log], None] | None = None
    if first:
        size, now_ms = sum(map(len, messages)), partition.environment.now_ms

        def before(log: Log) -> None:
            log.append_first(first, size, now_ms)

    head = last.header
    partition.append_as_leader(last, head.base_offset, head.last_offset_delta + 1, head.max_timestamp, before)
