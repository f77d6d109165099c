"""Appends what a broker itself writes: transaction markers, and records of the internal topics."""

from collections.abc import Callable

from ..log.log import Log
from ..protocol.record_batch import MAGIC, Batch, header_of, place
from .old_append import append_converted
from .partition import Partition


def append_own(partition: Partition, batch: Batch) -> int:
    """Appends to the leader's log, whatever the topic; returns the offset after the batch."""
    place(batch, partition.log.end_offset, partition.leader_epoch)
    if partition.log.segments.settings.magic != MAGIC:
        return append_converted(partition, batch)
    header = header_of(batch)
    count = header.last_offset_delta + 1
    partition.stats.appended(len(batch), count)
    noted = None
    if header.producer_id >= 0:

        def noted(log: Log) -> None:
            log.producers.transactions.decided(log.high_watermark)
            log.producers.appended_batch(batch, header)

    partition.append_as_leader(batch, header.base_offset, count, header.max_timestamp, noted)
    return header.base_offset + count


def await_replication(partition: Partition, end: int, timeout_ms: int, done: Callable[[bool], None]) -> None:
    """Calls `done` once the high watermark has reached `end` or the leader changed, with True; or with False
    when that takes too long."""

    def replicated() -> None:
        timer.cancel()
        done(True)

    def expired() -> None:
        partition.forget(replicated)
        done(False)

    timer = partition.environment.wait(timeout_ms, expired)
    partition.when_replicated(end, replicated)
