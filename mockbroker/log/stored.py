"""Logs that brokers find when a cluster starts, as on the disks of a real one."""

from collections.abc import Sequence
from typing import NamedTuple

from ..protocol.record_batch import Batch, header_of
from .log import Log


class StoredSegment(NamedTuple):
    """A segment, whose batches have their offsets and leader epochs."""

    base_offset: int
    batches: Sequence[Batch]


class StoredLog(NamedTuple):
    """A log of at least one segment, all of it below the high watermark. `epochs` are leader epochs and where
    they start, as far as the batches don't say it."""

    segments: Sequence[StoredSegment]
    epochs: Sequence[tuple[int, int]] = ()

    @property
    def latest_epoch(self) -> int:
        """The latest leader epoch, -1 if there is none."""
        epochs = [header_of(batch).leader_epoch for each in self.segments for batch in each.batches]
        return max([*epochs, *(epoch for epoch, _ in self.epochs)], default=-1)

    @property
    def highest_producer_id(self) -> int:
        """-1 if there is no producer id."""
        ids = (header_of(batch).producer_id for each in self.segments for batch in each.batches)
        return max(ids, default=-1)

    def fill(self, log: Log, now_ms: int) -> None:
        """Puts everything into an empty log, segment by segment."""
        log.begin_at(self.segments[0].base_offset)
        for epoch, start in self.epochs:
            log.epochs.assign(epoch, start)
        for segment in self.segments:
            log.segments.roll(segment.base_offset, now_ms)
            for batch in segment.batches:
                _append(log, batch, now_ms)
        log.high_watermark = log.end_offset
        log.producers.transactions.decided(log.high_watermark)


def _append(log: Log, batch: Batch, now_ms: int) -> None:
    """Appends to the active segment, which has no limits here: it is as long as it was."""
    head = header_of(batch)
    if head.leader_epoch >= 0:
        log.epochs.assign(head.leader_epoch, head.base_offset)
    log.bases.append(head.base_offset)
    log.batches.append(batch)
    log.end_offset = head.base_offset + head.last_offset_delta + 1
    log.size += len(batch)
    modified_ms = head.max_timestamp if head.max_timestamp >= 0 else now_ms
    log.segments.add(log.end_offset, len(batch), head.max_timestamp, modified_ms)
    if head.producer_id >= 0:
        log.producers.appended_batch(batch, head)
