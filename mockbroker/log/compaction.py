"""Log compaction: only the last record of each key stays (`LogCleaner`, `LogCleanerManager`).

Everything below the first dirty offset has been compacted before; the active segment never is. Offsets stay,
and batches are rewritten with the remaining records. Records of aborted transactions don't count, and are
removed; a marker is removed when nothing is left of its transaction and its delete horizon has passed
(KAFKA-8522).
"""

from bisect import bisect_left
from collections.abc import Iterable
from operator import is_
from typing import NamedTuple

from ..configs import TopicSettings
from ..protocol.batch_writing import marker_of
from ..protocol.filtering import stored_records, with_records, without_records
from ..protocol.record_batch import CONTROL, DELETE_HORIZON, TRANSACTIONAL, Batch, BatchHeader, header_of
from .log import Log
from .producer_state import ProducerStates
from .segments import Segment, Segments
from .transactions import Aborted


class Dirty(NamedTuple):
    """What can be compacted now: segments from index `first` up to, not including, `end`."""

    first_offset: int
    first: int
    end: int
    ratio: float
    """The share of these segments in the bytes of them and the compacted ones."""
    overdue: bool
    """Whether a record has waited for longer than `max.compaction.lag.ms` (KIP-354)."""


def dirty(log: Log, now_ms: int) -> Dirty:
    """`LogCleanerManager.cleanableOffsets`: up to the last stable offset, the active segment, or the first
    segment that is younger than `min.compaction.lag.ms` (KIP-58)."""
    segments, settings = log.segments, log.segments.settings
    found = segments.all
    offset = segments.first_dirty
    if not log.start_offset <= offset <= log.end_offset:
        offset = log.start_offset
    first, active = segments.holding(offset), len(found) - 1
    bound = min(segments.holding(log.last_stable_offset), active)
    end = first
    while end < bound and not _too_young(segments, found[end], now_ms):
        end += 1
    cleaned = sum(each.size for each in found if each.base_offset < offset)
    cleanable = sum(each.size for each in found[first:end])
    total = cleaned + cleanable
    firsts = [each.first_timestamp for each in found[first:active] if each.first_timestamp > 0]
    overdue = bool(cleanable and firsts and min(firsts) < now_ms - settings.max_compaction_lag_ms)
    return Dirty(offset, first, end, cleanable / total if total else 0.0, overdue)


def _too_young(segments: Segments, segment: Segment, now_ms: int) -> bool:
    lag_ms = segments.settings.min_compaction_lag_ms
    return lag_ms > 0 and segments.largest_timestamp(segment) > now_ms - lag_ms


def dirtier_at(log: Log, now_ms: int) -> int | None:
    """When, by time alone, more can be compacted; None if that takes an append."""
    part = dirty(log, now_ms)
    segments, settings = log.segments, log.segments.settings
    waiting = segments.all[part.first : -1]
    least_ms, most_ms = settings.min_compaction_lag_ms, settings.max_compaction_lag_ms
    times = [segments.largest_timestamp(each) + least_ms for each in waiting if least_ms > 0]
    times += [each.first_timestamp + most_ms + 1 for each in waiting if each.first_timestamp > 0]
    if log.last_stable_offset < segments.active.base_offset:
        times.append(now_ms + 1)
    return min((time for time in times if time > now_ms), default=None)


class Pass(NamedTuple):
    """What the cleaner did to one replica."""

    key: tuple[object, ...]
    """Everything on which it depends except the batches, which are in `batches`."""
    batches: list[Batch]
    changed: dict[int, tuple[Batch, Batch | None]]
    over: set[Aborted]


def compact(log: Log, now_ms: int, passes: list[Pass]) -> bool:
    """Compacts `log` if it is dirty enough; returns whether it was.

    `passes` are those over other replicas at this time: replicas that had the same batches share the
    rewritten ones. This pass is added.
    """
    part = dirty(log, now_ms)
    segments = log.segments
    if not part.overdue and not part.ratio > segments.settings.min_cleanable_dirty_ratio:
        return False
    end = segments.all[part.end].base_offset
    _clean(log, segments.all[part.first].base_offset, end, now_ms, passes)
    _merge(log, part.end)
    segments.first_dirty = end
    return True


def clean(log: Log, end: int, now_ms: int) -> None:
    """Compacts one replica on its own, whatever its segments, up to `end`: the base offset of a batch that is
    not above the last stable offset."""
    _clean(log, log.start_offset, end, now_ms, [])
    for segment in log.segments.all:
        log.measure(segment)


def _clean(log: Log, first_dirty: int, end: int, now_ms: int, passes: list[Pass]) -> None:
    producers = log.producers
    last_offsets = {
        producer_id: (entry.epoch, entry.batches[-1].last_offset if entry.batches else None)
        for producer_id, entry in producers.entries.items()
    }
    key = first_dirty, end, tuple(producers.transactions.aborted), last_offsets, log.segments.settings
    batches = log.batches[: bisect_left(log.bases, end)]
    for each in passes:
        same = len(each.batches) == len(batches) and all(map(is_, each.batches, batches))
        if same and each.key == key:
            done = each
            break
    else:
        done = Pass(key, batches, *_cleaned(log, first_dirty, end, log.segments.settings, now_ms))
        passes.append(done)
    log.replace(done.changed, end)
    producers.transactions.cleaned(done.over)


def _cleaned(
    log: Log, first_dirty: int, end: int, settings: TopicSettings, now_ms: int
) -> tuple[dict[int, tuple[Batch, Batch | None]], set[Aborted]]:
    """What replaces batches below `end` (`Log.replace`), and the aborted transactions of which only the
    marker is left."""
    upto = bisect_left(log.bases, end)
    aborted = log.producers.transactions.aborted
    latest = _latest_offsets(log.batches[bisect_left(log.bases, first_dirty) : upto], aborted, first_dirty)
    transactions = _Transactions(aborted, log.bases[0] if log.bases else 0)
    changed: dict[int, tuple[Batch, Batch | None]] = {}
    for base, batch in zip(log.bases[:upto], log.batches[:upto], strict=True):
        header = header_of(batch)
        discarded = transactions.discards(batch, header)
        after = _compacted(batch, header, discarded, latest, now_ms, settings.delete_retention_ms)
        if after is None and _needed(header, log.producers, end):
            after = without_records(header) if header.record_count else batch
        if after is not batch:
            changed[base] = batch, after
    return changed, transactions.over


class _Transactions:
    """Which batches are removed with their transactions: those of aborted transactions, and markers once
    nothing is left of what they ended (`CleanedTransactionMetadata.java`).

    `over` are the aborted transactions that nobody needs to know any more.
    """

    def __init__(self, aborted: Iterable[Aborted], start: int) -> None:
        found = [each for each in aborted if each.last_offset >= start]
        self._coming = sorted(found, key=lambda each: each.first_offset, reverse=True)
        self._aborted: dict[int, Aborted] = {}
        self._read: set[int] = set()
        """Producer ids of the transactions of which a batch was read."""
        self.over: set[Aborted] = set()

    def discards(self, batch: Batch, header: BatchHeader) -> bool:
        """Whether the batch, which is the next one in the log, may be removed."""
        last_offset, producer_id = header.base_offset + header.last_offset_delta, header.producer_id
        while self._coming and self._coming[-1].first_offset <= last_offset:
            each = self._coming.pop()
            self._aborted.setdefault(each.producer_id, each)
        if not header.attributes & TRANSACTIONAL:
            return False
        if not header.attributes & CONTROL:
            self._read.add(producer_id)
            return producer_id in self._aborted
        marker = marker_of(batch, header)
        if marker is None:
            return not header.record_count
        was_read = producer_id in self._read
        self._read.discard(producer_id)
        if not marker.committed:
            ended = self._aborted.pop(producer_id, None)
            if ended is not None and not was_read:
                self.over.add(ended)
        return not was_read


def _latest_offsets(batches: Iterable[Batch], aborted: Iterable[Aborted], start: int) -> dict[bytes, int]:
    """The last offset of each key, except in aborted transactions."""
    found: dict[bytes, int] = {}
    transactions = _Transactions(aborted, start)
    for batch in batches:
        header = header_of(batch)
        if not transactions.discards(batch, header) and not header.attributes & CONTROL:
            for record in stored_records(batch):
                if record.key is not None:
                    found[record.key] = record.offset
    return found


def _compacted(
    batch: Batch,
    header: BatchHeader,
    discarded: bool,
    latest: dict[bytes, int],
    now_ms: int,
    delete_retention_ms: int,
) -> Batch | None:
    """The batch with its remaining records; itself if these are all, None if there are none.

    A tombstone, or a marker that may be removed, stays until the delete horizon of its batch, which the first
    pass over it sets (KAFKA-8522).
    """
    horizon = header.base_timestamp if header.attributes & DELETE_HORIZON else None
    expired = horizon is not None and now_ms >= horizon
    if header.attributes & CONTROL:
        if not discarded:
            return batch
        kept = [] if expired else list(stored_records(batch))
        waits = True
    elif discarded:
        return None
    else:
        kept = [
            record
            for record in stored_records(batch)
            if record.key is not None
            and record.offset >= latest.get(record.key, -1)
            and not (record.tombstone and expired)
        ]
        waits = any(record.tombstone for record in kept)
    if not kept:
        return None
    if horizon is None and waits:
        return with_records(header, kept, now_ms + delete_retention_ms)
    return batch if len(kept) == header.record_count else with_records(header, kept, horizon)


def _needed(header: BatchHeader, producers: ProducerStates, end: int) -> bool:
    """Whether a batch stays although it is empty: for a producer's last sequence or epoch, or for the last
    offset that was compacted."""
    last_offset = header.base_offset + header.last_offset_delta
    entry = producers.entries.get(header.producer_id)
    if entry is not None and entry.batches:
        last_of_producer = entry.batches[-1].last_offset == last_offset
    else:
        control = bool(header.attributes & CONTROL)
        last_of_producer = entry is not None and control and header.producer_epoch == entry.epoch
    return last_of_producer or last_offset + 1 == end


def _merge(log: Log, count: int) -> None:
    """Joins neighbours among the first `count` segments that together had at most `segment.bytes` before."""
    found, segment_bytes = log.segments.all, log.segments.settings.segment_bytes
    merged: list[Segment] = []
    size = 0
    for each in found[:count]:
        if merged and size + each.size <= segment_bytes:
            merged[-1].modified_ms = each.modified_ms
            size += each.size
        else:
            merged.append(each)
            size = each.size
    found[:count] = merged
    for each in merged:
        log.measure(each)
