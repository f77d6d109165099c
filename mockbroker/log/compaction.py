"""Log compaction: only the last record of each key stays (`LogCleaner`, `LogCleanerManager`).

Everything below the first dirty offset has been compacted before; the active segment never is. Offsets stay,
and batches are rewritten with the remaining records. Records of aborted transactions don't count, and are
removed; a marker is removed when nothing is left of its transaction and its delete horizon has passed
(KAFKA-8522).
"""

from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from copy import copy
from itertools import islice
from typing import Final, NamedTuple

from ..protocol.batch_writing import marker_of
from ..protocol.filtering import StoredRecord, stored_records, with_records, without_records
from ..protocol.record_batch import (
    CONTROL,
    DELETE_HORIZON,
    MAGIC,
    TRANSACTIONAL,
    Batch,
    BatchHeader,
    OldBatch,
    header_of,
    pairs,
)
from .log import Log
from .segments import Segment, Segments
from .transactions import Aborted

_PART: Final = 128
"""How many batches and records are looked at in one part."""


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


class _Transactions:
    """Which batches are removed with their transactions: those of aborted transactions, and markers once
    nothing is left of what they ended (`CleanedTransactionMetadata.java`).

    `over` are the aborted transactions that no reader has to know from then on.
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


class Pass:
    """What the cleaner makes of the batches of a replica below offset `end`, when `run`; the replica itself
    stays as it is. The records from `first_dirty` on were never compacted.

    When it is `done`, `kept` are the batches that remain, `bases` their base offsets, `saved` the bytes by
    which they are less, and `over` the aborted transactions of which only the marker is left.
    """

    def __init__(self, log: Log, first_dirty: int, end: int, now_ms: int) -> None:
        self.end = end
        self.before = log.batches[: bisect_left(log.bases, end)]
        self.bases: list[int] = []
        self.kept: list[Batch] = []
        self.saved = 0
        self.over: set[Aborted] = set()
        self.done = False
        self._bases = log.bases[: len(self.before)]
        self._now_ms = now_ms
        self._delete_retention_ms = log.segments.settings.delete_retention_ms
        self._aborted = tuple(log.producers.transactions.aborted)
        self._producers = {
            producer_id: (entry.epoch, entry.batches[-1].last_offset if entry.batches else None)
            for producer_id, entry in log.producers.entries.items()
        }
        self._key = first_dirty, end, self._aborted, self._producers, log.segments.settings
        """Everything on which it depends except the batches and the time."""
        self._dirty = bisect_left(log.bases, first_dirty)
        self._latest: dict[bytes, int] = {}
        """The last offset of each key in the dirty batches, except in aborted transactions."""
        self._left = array("i", [0]) * (len(self.before) - self._dirty)
        """How many records of each dirty batch are the last of their key."""
        self._buries = bytearray(len(self._left))
        """Whether a dirty batch has a tombstone."""

    def does_for(self, other: "Pass") -> bool:
        """Whether the other one would come to the same, if it is made at the same time."""
        return self._key == other._key and self.before == other.before

    def run(self) -> Generator[None, None, None]:
        """Does it in parts."""
        yield from self._read()
        transactions = _Transactions(self._aborted, self._bases[0] if self._bases else 0)
        work = 0
        for number, (base, batch) in enumerate(zip(self._bases, self.before, strict=True)):
            header = header_of(batch)
            after = self._after(number, batch, header, transactions.discards(batch, header))
            if after is not None:
                self.bases.append(base)
                self.kept.append(after)
            if after is not batch:
                self.saved += len(batch) - (0 if after is None else len(after))
            work += 1 + (header.record_count if after is not batch or number < self._dirty else 0)
            if work >= _PART:
                work = 0
                yield
        self.over = transactions.over
        self.done = True

    def _read(self) -> Generator[None, None, None]:
        """Finds the last record of each key."""
        first, bases, latest, left = self._dirty, self._bases, self._latest, self._left
        transactions = _Transactions(self._aborted, bases[first] if first < len(bases) else 0)
        work = 0
        for number, batch in enumerate(islice(self.before, first, None)):
            header = header_of(batch)
            if not transactions.discards(batch, header) and not header.attributes & CONTROL:
                for offset, key, value in pairs(header, batch):
                    if key is None:
                        continue
                    before = latest.get(key)
                    if before is not None:
                        left[bisect_right(bases, before, first, first + number + 1) - 1 - first] -= 1
                    latest[key] = offset
                    left[number] += 1
                    if value is None:
                        self._buries[number] = True
            work += 1 + header.record_count
            if work >= _PART:
                work = 0
                yield

    def _after(self, number: int, batch: Batch, header: BatchHeader, discarded: bool) -> Batch | None:
        """What is left of a batch: itself if that is all; None if it goes."""
        after: Batch | None = batch
        dirty = number - self._dirty
        if discarded or header.attributes & CONTROL or dirty < 0 or self._buries[dirty]:
            after = self._rewritten(batch, header, discarded)
        elif not self._left[dirty]:
            after = None
        elif self._left[dirty] < header.record_count:
            after = self._rewritten(batch, header, discarded)
        if after is None and header.magic == MAGIC and self._needed(header):
            return without_records(header) if header.record_count else batch
        return after

    def _rewritten(self, batch: Batch, header: BatchHeader, discarded: bool) -> Batch | None:
        """The batch with its remaining records.

        A tombstone, or a marker that may be removed, stays until the delete horizon of its batch, which the
        first pass over it sets (KAFKA-8522).
        """
        horizon = header.base_timestamp if header.attributes & DELETE_HORIZON else None
        expired = horizon is not None and self._now_ms >= horizon
        if header.attributes & CONTROL:
            if not discarded:
                return batch
            kept = [] if expired else list(stored_records(batch))
            waits = True
        elif discarded:
            return None
        else:
            latest = self._latest
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
            return _remade(batch, header, kept, self._now_ms + self._delete_retention_ms)
        return batch if len(kept) == header.record_count else _remade(batch, header, kept, horizon)

    def _needed(self, header: BatchHeader) -> bool:
        """Whether a batch stays although it is empty: for a producer's last sequence or epoch, or for the
        last offset that was compacted."""
        last_offset = header.base_offset + header.last_offset_delta
        epoch, last_of_producer = self._producers.get(header.producer_id, (None, None))
        if last_of_producer is not None:
            needed = last_of_producer == last_offset
        else:
            needed = bool(header.attributes & CONTROL) and header.producer_epoch == epoch
        return needed or last_offset + 1 == self.end


def _remade(batch: Batch, header: BatchHeader, kept: Sequence[StoredRecord], horizon_ms: int | None) -> Batch:
    if isinstance(batch, OldBatch):
        # Hardly any log has one, and a server starts without what they need.
        from .old_batches import with_kept

        return with_kept(batch, kept, horizon_ms)
    return with_records(header, kept, horizon_ms)


Passes = list[tuple[Pass, Generator[None, None, None]]]
"""Passes and their parts. A pass must not hold its parts, which hold it: that it ends early is no reason for
what it has read to stay until garbage is collected, which may be never."""


def compact(log: Log, now_ms: int, passes: Passes) -> Generator[None, None, None]:
    """Compacts `log` if it is dirty enough. Yields between two parts: everything changes in the last one, and
    nothing if the log was truncated meanwhile (`LogCleanerManager.abortAndPauseCleaning`).

    `passes` are those over other replicas that began at this time: replicas that had the same batches share
    one. This pass is added.
    """
    part = dirty(log, now_ms)
    segments = log.segments
    if not part.overdue and not part.ratio > segments.settings.min_cleanable_dirty_ratio:
        return
    end = segments.all[part.end].base_offset
    made = Pass(log, segments.all[part.first].base_offset, end, now_ms)
    steps = made.run()
    for each, its_steps in passes:
        if each.does_for(made):
            made, steps = each, its_steps
            break
    else:
        passes.append((made, steps))
    for _ in steps:
        yield
    if not made.done:
        return  # It failed for another replica.
    merged = yield from _merged(segments, part.end, made)
    if log.batches[: bisect_left(log.bases, end)] == made.before:
        _replace(log, made)
        segments.all[: part.end] = merged
        segments.first_dirty = end


def clean(log: Log, end: int, now_ms: int) -> None:
    """Compacts one replica on its own, whatever its segments, up to `end`: the base offset of a batch that is
    not above the last stable offset."""
    made = Pass(log, log.start_offset, end, now_ms)
    deque(made.run(), maxlen=0)
    _replace(log, made)
    for segment in log.segments.all:
        log.measure(segment)


def _replace(log: Log, made: Pass) -> None:
    log.replace(len(made.before), made.bases, made.kept, made.saved)
    log.producers.transactions.cleaned(made.over)


def _merged(segments: Segments, count: int, made: Pass) -> Generator[None, None, list[Segment]]:
    """The first `count` segments as they will be: neighbours that together had at most `segment.bytes` before
    are joined."""
    merged: list[Segment] = []
    size = 0
    for each in segments.all[:count]:
        if merged and size + each.size <= segments.settings.segment_bytes:
            merged[-1].modified_ms = each.modified_ms
            size += each.size
        else:
            merged.append(copy(each))
            size = each.size
    ends = [*(each.base_offset for each in merged[1:]), made.end]
    for each, end in zip(merged, ends, strict=True):
        each.clear()
        first, upto = bisect_left(made.bases, each.base_offset), bisect_left(made.bases, end)
        for at in range(first, upto, _PART):
            segments.count(each, made.kept[at : min(at + _PART, upto)])
            yield
    return merged
