"""The log of one replica: record batches as received, in memory."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final, overload

from ..policies.fetching.deleted_stable_offset import deleted_stable_offset
from ..protocol.record_batch import Batch, OldBatch, header_of, records
from .leader_epochs import UNDEFINED, LeaderEpochCache, NoEpochs
from .producer_state import ProducerStates
from .segments import Segment, Segments, base_offset_of

CUTS_KEPT: Final = 100
"""How many truncations of a log are remembered, for the trace to report later."""


class Log:
    """Batches in offset order. Offsets are Kafka's: log start offset, log end offset, high watermark.

    `bases[i]` is the base offset of `batches[i]`. Batches are shared between the replicas of a partition, and
    never changed once they are appended. A message of magic 0 or 1 is a batch too (`OldBatch`). Batches below
    the log start offset remain until their segment is deleted; iteration skips them.
    """

    __slots__ = (
        "bases",
        "batches",
        "cut_count",
        "cuts",
        "end_offset",
        "epochs",
        "high_watermark",
        "producers",
        "segments",
        "size",
        "start_offset",
    )

    def __init__(self, producers: ProducerStates, segments: Segments) -> None:
        self.bases: list[int] = []
        self.batches: list[Batch] = []
        self.start_offset = 0
        self.end_offset = 0
        self.high_watermark = 0
        self.size = 0
        self.cuts: list[tuple[int, int]] = []
        """Log end offsets before and after each of the last truncations."""
        self.cut_count = 0
        """How many truncations there have been."""
        self.epochs = LeaderEpochCache()
        self.producers = producers
        self.segments = segments

    @property
    def last_stable_offset(self) -> int:
        """Where a read_committed consumer stops; the high watermark while no transaction is open."""
        transactions = self.producers.transactions
        if not transactions.open and not transactions.ended:
            return self.high_watermark
        stable = transactions.last_stable_offset(self.high_watermark)
        if stable >= self.start_offset:
            return stable
        if self.producers.policies()[deleted_stable_offset] == "batch-base-offset":
            return self.batch_base(self.start_offset)
        return self.start_offset

    def append(self, batch: Batch, base_offset: int, count: int, timestamp: int, now_ms: int) -> None:
        """Appends a batch whose offsets are already set; `timestamp` is its max timestamp."""
        self.bases.append(base_offset)
        self.batches.append(batch)
        self.end_offset = end_offset = base_offset + count
        size = len(batch)
        self.size += size
        self.segments.extend(base_offset, end_offset, size, timestamp, now_ms)

    def append_first(self, batches: Sequence[OldBatch], size: int, now_ms: int) -> None:
        """Appends the first messages of a set of `size` bytes, which goes into one segment; the last one is
        appended next."""
        heads = [each.header for each in batches]
        end_offset = heads[-1].base_offset + heads[-1].last_offset_delta + 1
        timestamp = max(head.max_timestamp for head in heads)
        self.segments.make_room(heads[0].base_offset, end_offset + 1, size, timestamp, now_ms)
        self.bases += [head.base_offset for head in heads]
        self.batches += batches
        self.end_offset = end_offset
        appended = sum(map(len, batches))
        self.size += appended
        self.segments.add(end_offset, appended, timestamp, now_ms)

    def read(self, offset: int, max_bytes: int, end: int, at_least_one: bool) -> list[Batch]:
        """Batches from the one that holds `offset` on, up to the end of its segment and below offset `end`:
        `max_bytes` of them, so that the last may be cut off, as when Kafka reads a file. The first is always
        whole, or there is none; with `at_least_one` there is one.
        """
        found: list[Batch] = []
        # `islice` would walk there from the beginning.
        for batch in map(self.batches.__getitem__, self._places(offset, end)):
            if len(batch) > max_bytes and (found or not at_least_one):
                if found and max_bytes > 0:
                    found.append(memoryview(batch)[:max_bytes])
                break
            found.append(batch)
            max_bytes -= len(batch)
        return found

    def stretch(self, offset: int, max_bytes: int, end: int, at_least_one: bool) -> Sequence[Batch]:
        """The same, to be used before the log changes: not copied if the whole log has no more bytes."""
        if self.size > max_bytes:
            return self.read(offset, max_bytes, end, at_least_one)
        return Stretch(self.batches, self._places(offset, end))

    def _places(self, offset: int, end: int) -> range:
        """Where the batches are from the one that holds `offset` on, up to the end of its segment and below
        offset `end`."""
        bases = self.bases
        index = self._index_of(offset)
        if index < len(bases) and bases[index] < self.segments.active.base_offset:
            end = min(end, self.segment_end(self.segments.holding(bases[index])))
        return range(index, max(index, bisect_left(bases, end)))

    def aborted_upto(self, found: Sequence[Batch]) -> int:
        """Up to which offset a reader that was given `found` has to know aborted transactions: the next entry
        of the offset index, else the end of the segment (`LocalLog.addAbortedTransactions`)."""
        base = header_of(found[0]).base_offset
        number = self.segments.holding(base)
        segment = self.segments.all[number]
        before = bisect_left(segment.offsets, base) - 1
        first, position = bisect_left(self.bases, segment.base_offset), 0
        if before >= 0:
            first, position = self._index_of(segment.offsets[before]), segment.positions[before]
        position += sum(map(len, self.batches[first : bisect_left(self.bases, base)]))
        entry = bisect_left(segment.positions, position + sum(map(len, found)))
        return segment.offsets[entry] if entry < len(segment.offsets) else self.segment_end(number)

    def batches_between(self, offset: int, end: int) -> Iterator[Batch]:
        """Batches that begin below offset `end`, from the one that holds `offset` on."""
        return iter(self.batches[self._index_of(offset) : bisect_left(self.bases, end)])

    def batches_from(self, offset: int, count: int) -> list[Batch]:
        """At most `count` batches, from the one that holds `offset` on."""
        first = self._index_of(offset)
        return self.batches[first : first + count]

    def _index_of(self, offset: int) -> int:
        """Index of the batch that holds `offset`, or else of the next one."""
        if offset >= self.end_offset:
            return len(self.bases)
        index = bisect_right(self.bases, offset) - 1
        if index < 0 or (self.bases[index] < offset and _last_offset(self.batches[index]) < offset):
            index += 1
        return index

    def segment_of(self, offset: int) -> int:
        """Base offset of the segment that holds `offset`; at the log end offset, of the active segment."""
        active = self.segments.active.base_offset
        if offset >= active:
            return active
        return self.segments.all[self.segments.holding(offset)].base_offset

    def batch_base(self, offset: int) -> int:
        """Base offset of the batch that holds `offset`, or else of the next one; after all, the log end
        offset."""
        index = self._index_of(offset)
        return self.bases[index] if index < len(self.bases) else self.end_offset

    def advance_start(self, offset: int) -> None:
        """Advances the log start offset (DeleteRecords, KIP-107): below it nothing can be read then."""
        if offset <= self.start_offset:
            return
        self.start_offset = offset
        self.epochs.truncate_from_start(offset)
        self.producers.transactions.truncate_from_start(offset)
        self.producers.log_start_advanced(offset)

    @property
    def first(self) -> int:
        """Index of the first batch that is not below the log start offset."""
        return self._index_of(self.start_offset)

    def segment_end(self, index: int) -> int:
        """The offset after the last one of a segment."""
        found = self.segments.all
        return found[index + 1].base_offset if index + 1 < len(found) else self.end_offset

    def delete_segments(self, count: int, now_ms: int) -> None:
        """Deletes the oldest segments. Advance the log start offset beyond them first."""
        if count == len(self.segments.all):
            self.segments.roll(self.end_offset, now_ms)
        del self.segments.all[:count]
        keep = bisect_left(self.bases, self.segments.all[0].base_offset)
        self.size -= sum(map(len, self.batches[:keep]))
        del self.bases[:keep], self.batches[:keep]

    def append_fetched(self, batches: Sequence[bytes | Batch], now_ms: int) -> None:
        """Appends what a follower fetched at once: offsets, leader epoch and producer are in the batches.

        All of them go into one segment.
        """
        heads = [header_of(batch) for batch in batches]
        end_offset = heads[-1].base_offset + heads[-1].last_offset_delta + 1
        timestamp = max(head.max_timestamp for head in heads)
        size = sum(map(len, batches))
        self.segments.make_room(heads[0].base_offset, end_offset, size, timestamp, now_ms)
        for batch, head in zip(batches, heads, strict=True):
            assert not isinstance(batch, bytes), "a log hands out what it holds"
            self.epochs.assign(head.leader_epoch, head.base_offset)
            self.bases.append(head.base_offset)
            self.batches.append(batch)
            self.end_offset = head.base_offset + head.last_offset_delta + 1
            self.segments.add(self.end_offset, len(batch), head.max_timestamp, now_ms)
            if head.producer_id >= 0:
                self.producers.transactions.decided(self.high_watermark)
                self.producers.appended_batch(batch, head)
        self.size += size

    def straddled_by(self, batch: bytes | Batch) -> bool:
        """Whether the log is empty and begins inside `batch`."""
        if self.start_offset != self.end_offset:
            return False
        header = header_of(batch)
        return header.base_offset < self.end_offset <= header.base_offset + header.last_offset_delta

    def truncate(self, offset: int, *, keep_empty_epochs: bool = False) -> None:
        """Drops everything from `offset` on, including the whole batch that holds it; the log start offset
        goes back with it (`UnifiedLog.truncateTo`).

        An epoch that begins at the log end offset, in which nothing was written, is dropped in any case,
        unless it is to be kept (KAFKA-10706).
        """
        if offset >= self.end_offset:
            if not keep_empty_epochs:
                self.epochs.truncate_from_end(self.end_offset)
            return
        keep = bisect_left(self.bases, offset)
        if keep and _last_offset(self.batches[keep - 1]) >= offset:
            keep -= 1
        self.size -= sum(map(len, self.batches[keep:]))
        end = min(offset, self.bases[keep]) if keep < len(self.bases) else offset
        self.cuts.append((self.end_offset, end))
        del self.cuts[:-CUTS_KEPT]
        self.cut_count += 1
        self.end_offset = end
        self.start_offset = min(self.start_offset, end)
        del self.bases[keep:], self.batches[keep:]
        self.high_watermark = min(self.high_watermark, self.end_offset)
        if self.segments.all[0].base_offset > end:
            self.segments.begin_at(end, self.segments.active.modified_ms)
        else:
            self.segments.truncate(end)
            self.measure(self.segments.active)
        self.epochs.truncate_from_end(self.end_offset)
        self.producers.truncated(self.end_offset, self)

    def measure(self, segment: Segment) -> None:
        """Computes the size and indexes of a segment from its batches."""
        self.segments.measure(segment, self._batches_of(segment))

    def reopen(self, *, clean: bool) -> None:
        """The state that a broker finds when it starts again (`LogLoader`,
        `UnifiedLog.rebuildProducerState`): epochs without records are gone, and of each producer its last
        batch is known.

        A clean shutdown takes a snapshot of all producers; after a kill there is only the snapshot from when
        the log rolled, and the active segment. The snapshot of an empty log does not count.
        """
        self.epochs.truncate_from_end(self.end_offset)
        producers, rolled_at = self.producers, self.segments.active.base_offset
        if self.start_offset == self.end_offset:
            producers.rebuild(())
        elif not clean and 0 < rolled_at <= self._checkpointed_start:
            producers.recover(self.batches_between(rolled_at, self.end_offset))
        producers.load()

    @property
    def _checkpointed_start(self) -> int:
        """The log start offset in the checkpoint, which has it only if the first segment begins below it
        (`LogManager.checkpointLogStartOffsetsInDir`). Snapshots at or below it do not count."""
        return self.start_offset if self.start_offset > self.segments.all[0].base_offset else 0

    def begin_at(self, offset: int) -> None:
        """Drops everything and continues at `offset` (`UnifiedLog.truncateFullyAndStartAt`)."""
        self.truncate(self.start_offset)
        self.bases.clear()
        self.batches.clear()
        self.size = 0
        self.start_offset = self.end_offset = self.high_watermark = offset
        self.segments.begin_at(offset, self.segments.active.modified_ms)
        self.epochs = type(self.epochs)()
        self.producers.rebuild(())

    def keep_epochs(self, kept: bool) -> None:
        """Whether leader epochs are remembered from now on; if not, those before are forgotten."""
        self.epochs = LeaderEpochCache() if kept else NoEpochs()

    @property
    def latest_epoch(self) -> int:
        """The latest cached leader epoch, -1 if there is none."""
        return self.epochs.latest

    def epoch_end(self, epoch: int) -> tuple[int, int]:
        """The highest cached epoch at or below `epoch`, and where it ends; (-1, -1) if none is cached.

        An epoch below all that are cached ends where the first of them begins (KAFKA-7415).
        """
        found, index = self.epochs.floor(epoch)
        starts = self.epochs.starts
        if index < 0:
            return (epoch, starts[0]) if starts else (UNDEFINED, UNDEFINED)
        return found, starts[index + 1] if index + 1 < len(starts) else self.end_offset

    def shared_end(self, other: "Log") -> int:
        """The offset up to which both logs hold the same batches."""
        end = min(self.end_offset, other.end_offset)
        mine, its = bisect_left(self.bases, end), bisect_left(other.bases, end)
        while mine and its and self.batches[mine - 1] is not other.batches[its - 1]:
            end = max(self.bases[mine - 1], other.bases[its - 1])
            mine, its = bisect_left(self.bases, end), bisect_left(other.bases, end)
        return end

    def replace(self, count: int, bases: Sequence[int], batches: Sequence[Batch], saved: int) -> None:
        """Replaces the first `count` batches, which have `saved` bytes more than those that take their place.
        What was read before stays as it was."""
        self.bases[:count] = bases
        self.batches[:count] = batches
        self.size -= saved

    def first_at_or_after(self, timestamp: int) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record that is not older, None if there is none. Only one
        segment is searched: the first whose largest timestamp is late enough
        (`UnifiedLog.searchOffsetInLocalLog`)."""
        for segment in self.segments.all:
            if segment.latest >= timestamp:
                break
        else:
            return None
        for batch in self._batches_of(segment):
            if header_of(batch)[8] >= timestamp:
                for record in records(batch):
                    if record.timestamp >= timestamp and self.start_offset <= record.offset:
                        return record.timestamp, record.offset
        return None

    def latest_timestamp(self) -> tuple[int, int] | None:
        """(timestamp, offset) of the first record with the largest timestamp (KIP-734), None if there is
        none."""
        for segment in sorted(self.segments.all, key=lambda each: -each.max_timestamp):
            largest = segment.max_timestamp
            for batch in self._batches_of(segment):
                header = header_of(batch)
                # A batch that compaction has emptied keeps its timestamp.
                if header[8] == largest and header[12]:
                    return next(
                        ((r.timestamp, r.offset) for r in records(batch) if r.timestamp == largest), None
                    )
        return None

    def _batches_of(self, segment: Segment) -> Iterator[Batch]:
        index = bisect_left(self.segments.all, segment.base_offset, key=base_offset_of)
        first = bisect_left(self.bases, segment.base_offset)
        return iter(self.batches[first : bisect_left(self.bases, self.segment_end(index))])

    def __iter__(self) -> Iterator[Batch]:
        return iter(self.batches[self.first :])


class Stretch(Sequence[Batch]):
    """Neighbouring batches of a log."""

    def __init__(self, batches: Sequence[Batch], places: range) -> None:
        self._batches, self._places = batches, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Batch: ...

    @overload
    def __getitem__(self, index: slice) -> list[Batch]: ...

    def __getitem__(self, index: int | slice) -> Batch | list[Batch]:
        found = self._places[index]
        return self._batches[found] if isinstance(found, int) else [self._batches[each] for each in found]


def _last_offset(batch: Batch) -> int:
    header = header_of(batch)
    return header[0] + header[6]
