"""What is in flight of one partition in a share group: its offsets, its batches, and the locks of records."""

import heapq
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .in_flight import Batch, Delivery, StateBatch
from .states import RecordState

_THROTTLED_FROM: Final = 2


@dataclass(frozen=True, slots=True)
class ShareLimits:
    """`group.share.delivery.count.limit`, `group.share.record.lock.duration.ms` and
    `group.share.partition.max.record.locks`, or what a group has instead; whether members may renew
    locks, and whether records go to a dead letter topic before they are archived."""

    delivery_count: int = 5
    lock_ms: int = 30_000
    records: int = 2000
    renews: bool = True
    sets_aside: bool = False

    @property
    def throttled_from(self) -> int:
        """From so many deliveries on, fewer records are delivered at once, lest a bad one takes others with
        it."""
        return max(_THROTTLED_FROM, math.ceil(self.delivery_count / 2))


class Flight:
    """Offsets and states; every time is in ms."""

    def __init__(self, start_offset: int, limits: ShareLimits | None = None) -> None:
        self.start_offset = start_offset
        """SPSO: the first record that is not done."""
        self.end_offset = start_offset
        """SPEO: the last record in flight; the next one to be fetched if none is."""
        self.limits = limits or ShareLimits()
        self.batches: list[Batch] = []
        self.locks: list[tuple[int, int, int]] = []
        self.gap: tuple[int, int] | None = None
        """Where the records begin of which the share coordinator knew nothing, and the end offset then."""
        self.looked_at: int | None = None
        """The offset at which a ShareFetch has looked how much there is to read: none looks there again."""
        self.complete_count = 0
        """How many of the records in flight are done, or will be once that is written: `count` keeps it."""
        self._let_go: list[tuple[int, int]] = []
        """A heap of parts that were let go: each record that can be acquired again is in one. Parts that were
        acquired are taken out when they are the first."""

    @property
    def in_flight(self) -> int:
        """How many offsets there are from the start to the end offset."""
        return self.end_offset - self.start_offset + 1 if self.batches else 0

    def parts(self) -> Iterator[tuple[int, int, Delivery]]:
        """All records in flight, by first and last offset, with what became of them."""
        for batch in self.batches:
            for first, last, each in batch.parts():
                if last >= self.start_offset:
                    yield max(first, self.start_offset), last, each

    def states(self) -> list[StateBatch]:
        """The states of all records in flight."""
        return [StateBatch(first, last, each.state, each.count) for first, last, each in self.parts()]

    def next_fetch_offset(self) -> int:
        """Where to read next: at the first record that was let go or is unknown, else after all of them."""
        if not self.batches or self.start_offset > self.batches[-1].last:
            return self.end_offset
        gap = self.open_gap()
        if gap is not None:
            return self._next_in_gap(gap)
        free = self.first_free()
        return self.end_offset + 1 if free is None else free

    def first_free(self) -> int | None:
        """The first record that can be acquired of those that are known."""
        while self._let_go:
            first, last = self._let_go[0]
            batch = self.floor(first)
            found = None if batch is None or batch.last < first else batch.first_free(first, last)
            if found == first:
                return found
            if found is None:
                heapq.heappop(self._let_go)
            else:
                heapq.heapreplace(self._let_go, (found, last))
        return None

    def _next_in_gap(self, gap: int) -> int:
        for batch in self.batches:
            if batch.first > gap:
                return gap
            gap = max(gap, batch.last + 1)
            for first, _, each in batch.parts():
                if each.free:
                    return first
        return self.end_offset + 1

    def may_be_free(self, first: int, last: int) -> None:
        """Some of these records of a batch can be acquired now."""
        heapq.heappush(self._let_go, (first, last))

    def skip_free(self, first: int) -> tuple[int, int]:
        """Leaves those out that can be acquired in the first part, but for what is not before `first`."""
        low, high = heapq.heappop(self._let_go)
        if high >= first:
            heapq.heappush(self._let_go, (first, high))
        return low, min(high, first - 1)

    def can_acquire(self) -> bool:
        """Whether it is worth reading: something was let go, or fewer records are in flight than may be."""
        return self.next_fetch_offset() != self.end_offset + 1 or self.in_flight < self.limits.records

    def count(self, first: int, last: int, was: RecordState, now: RecordState) -> None:
        """The state of a part has changed."""
        if was.final is not now.final:
            size = max(0, last - max(first, self.start_offset) + 1)
            self.complete_count += size if now.final else -size

    def begin_at(self, offset: int) -> None:
        """Moves the start offset; what is done below it does not count any more."""
        low, high = sorted((offset, self.start_offset))
        done = 0
        for batch in self.overlapping(low, high - 1):
            for first, last, each in batch.parts(low, high - 1):
                if each.state.final:
                    done += min(last, high - 1) - max(first, low) + 1
        self.complete_count -= done if offset > self.start_offset else -done
        self.start_offset = offset

    def remove(self, first: int, last: int) -> None:
        """What nobody has of these records is archived."""
        for batch in self.overlapping(first, last):
            if batch.all is not None and batch.all.state is not RecordState.AVAILABLE:
                continue
            if not batch.within(first, last):
                batch.split()
            for low, high, each in batch.parts(first, last):
                if each.state is RecordState.AVAILABLE:
                    each.remove()
                    self.count(low, high, RecordState.AVAILABLE, each.state)

    def open_gap(self) -> int | None:
        return self.gap[0] if self.gap is not None and self.gap[1] == self.end_offset else None

    def close_gap(self, offset: int) -> None:
        """What is below `offset` is known now."""
        if self.gap is not None:
            end = self.gap[1]
            self.gap = (offset, end) if end == self.end_offset and offset <= end else None

    def floor(self, offset: int) -> Batch | None:
        at = bisect_right(self.batches, offset, key=first_of)
        return self.batches[at - 1] if at else None

    def overlapping(self, first: int, last: int) -> list[Batch]:
        """The batches that have records from `first` to `last`."""
        floor = self.floor(first)
        found = self.between(first if floor is None else floor.first, last)
        return [each for each in found if each.last >= first]

    def between(self, first: int, last: int) -> list[Batch]:
        low = bisect_left(self.batches, first, key=first_of)
        return self.batches[low : bisect_right(self.batches, last, key=first_of)]


def first_of(batch: Batch) -> int:
    return batch.first
