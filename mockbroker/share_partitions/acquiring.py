"""How a member acquires records of a share partition (`SharePartition.acquire`)."""

import heapq
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .flight import Flight, first_of
from .in_flight import Batch, Delivery
from .states import RecordState


@dataclass(frozen=True, slots=True)
class Asked:
    """How records are acquired: by whom, until when they are locked, and how many to a batch. If `limited`,
    never more than there is room for, even if that divides a batch; if `throttled`, fewer and fewer of those
    that were delivered often. If `joined`, neighbours are one range although they were let go one by one. If
    only what is `there`, nothing new below the start offset."""

    member: str
    until: int
    batch_size: int
    limited: bool = False
    throttled: bool = False
    joined: bool = True
    there: bool = False


@dataclass(frozen=True, slots=True)
class Acquired:
    """Records that a member was given."""

    first: int
    last: int
    delivery_count: int


class Acquiring(Flight):
    """Gives records to members."""

    def acquire(
        self,
        member: str,
        fetched: Sequence[tuple[int, int]],
        fetch_offset: int,
        *,
        max_records: int,
        batch_size: int,
        now: int,
        limited: bool = False,
        throttled: bool = False,
        joined: bool = True,
        there: bool = False,
    ) -> list[Acquired]:
        """Gives a member what it may have of the batches that were read from `fetch_offset`; `fetched` has
        their first and last offsets. Unless `limited`, new batches are given whole, so it may be up to a
        batch above `max_records`. If `throttled`, records that were delivered often are given few at a
        time. If not `joined`, records that were let go one by one are ranges of their own. Of a batch that
        is read for the first time, records below the start offset are given too, unless only what is `there`
        is."""
        if max_records <= 0 or not fetched or fetched[-1][1] < self.start_offset:
            return []
        last, room = fetched[-1][1], min(max_records, self.limits.records - self.in_flight)
        if room <= 0:
            # Records in between were let go: these may be acquired, but none after the end offset.
            room = min(max_records, self.end_offset - fetch_offset + 1)
            last = min(last, self.end_offset)
        if room <= 0:
            return []
        first = fetched[0][0]
        if fetch_offset < first:
            # Compaction has removed what was let go before the first batch.
            self.remove(fetch_offset, first - 1)
        asked = Asked(member, now + self.limits.lock_ms, batch_size, limited, throttled, joined, there)
        floor = self.floor(first)
        if floor is None:
            begin = max(first, self.start_offset)
        else:
            begin = floor.first if floor.last >= first else first
        known = self.between(min(first, begin), last)
        if not known:
            return self._acquire_new(begin, last, room, fetched, asked)
        result: list[Acquired] = []
        for batch in known:
            if _count(result) >= room:
                break
            if self.open_gap() is not None:
                if begin < batch.first:
                    left = room - _count(result)
                    result += self._acquire_new(begin, batch.first - 1, left, fetched, asked)
                begin = batch.last + 1
                if _count(result) >= room:
                    break
            worn = throttled and self._is_worn(batch, first, last)
            if worn and result:
                room = 0
                break
            found = self._acquire_known(batch, first, last, room - _count(result), worn, asked)
            result += found
            if worn and found:
                room = 0
                break
        if _count(result) < room and known[-1].last < last:
            result += self._acquire_new(known[-1].last + 1, last, room - _count(result), fetched, asked)
        if result:
            self.close_gap(result[-1].last + 1)
        return result

    def withdraw(self, acquired: Iterable[Acquired], gone: Iterable[tuple[int, int]]) -> list[Acquired]:
        """Archives records that were acquired just now, but are not for consumers, because their transaction
        was aborted: `gone` has the first and last offsets of their batches, in order. What is left."""
        left = list(acquired)
        for first, last in gone:
            floor = self.floor(first)
            for batch in self.between(first if floor is None else floor.first, last):
                if batch.last >= first:
                    self._archive(batch, first, last)
            left = [part for each in left for part in _without(each, first, last)]
        return left

    def _is_worn(self, batch: Batch, first: int, last: int) -> bool:
        """Whether some of what can be acquired of a batch was delivered often."""
        counts = [each.count for _, _, each in batch.parts(first, last) if each.free]
        return max(counts, default=0) >= self.limits.throttled_from

    def _acquire_known(
        self, batch: Batch, first: int, last: int, room: int, worn: bool, asked: Asked
    ) -> list[Acquired]:
        part = asked.limited and batch.last - batch.first + 1 > room
        if (part or worn or not batch.within(first, last)) and batch.all is not None:
            if not batch.all.free:
                return []
            batch.split()
        if batch.each is not None:
            return self._acquire_some(batch, first, last, room, asked)
        assert batch.all is not None
        if not batch.all.free:
            return []
        self._lock(batch.first, batch.last, batch.all, asked)
        return [Acquired(batch.first, batch.last, batch.all.count)]

    def _acquire_some(self, batch: Batch, first: int, last: int, room: int, asked: Asked) -> list[Acquired]:
        """Records of a batch each of which has a state of its own."""
        result: list[Acquired] = []
        most, size, taken = self.limits.delivery_count, batch.last - batch.first + 1, 0
        few: int | None = None
        for offset, _, each in batch.parts(first, last):
            if not each.free:
                continue
            if asked.throttled:
                if most > 2 and each.count == most - 1 and taken:
                    break
                if few is None and each.count >= self.limits.throttled_from:
                    few = max(1, size >> (each.count - self.limits.throttled_from + 1))
            self._lock(offset, offset, each, asked)
            taken += 1
            before = result[-1] if result and asked.joined else None
            if before is not None and (before.last, before.delivery_count) == (offset - 1, each.count):
                result[-1] = Acquired(before.first, offset, each.count)
            else:
                result.append(Acquired(offset, offset, each.count))
            alone = asked.throttled and most > 2 and each.count == most
            if alone or taken == few or (asked.limited and taken == room):
                break
        return result

    def _lock(self, first: int, last: int, delivery: Delivery, asked: Asked) -> None:
        delivery.acquire(asked.member, asked.until)
        heapq.heappush(self.locks, (asked.until, first, last))

    def _acquire_new(
        self, first: int, last: int, room: int, fetched: Sequence[tuple[int, int]], asked: Asked
    ) -> list[Acquired]:
        if not self.batches:
            first = max(first, self.end_offset)
        if asked.there and first < self.start_offset:
            first = self.start_offset
            if first > last:
                return []
        end = last
        if room < last - first + 1:
            end = first + room - 1
            end = next((high for low, high in fetched if low <= end <= high), end)
            if self.open_gap() is not None:
                end = min(end, last)
        begins = [first]
        if end - first + 1 > asked.batch_size and not asked.limited:
            for low, _ in fetched:
                if low <= end and low - begins[-1] >= asked.batch_size:
                    begins.append(low)
        result = [
            Acquired(low, high - 1, 1) for low, high in zip(begins, [*begins[1:], end + 1], strict=True)
        ]
        made = []
        for each in result:
            delivery = Delivery(RecordState.AVAILABLE, 0)
            if asked.limited and each.last - each.first + 1 > room:
                batch = Batch(each.first, each.last, delivery)
                for offset, one in enumerate(batch.split()[:room], each.first):
                    self._lock(offset, offset, one, asked)
                made.append(batch)
            elif each.first <= each.last:
                self._lock(each.first, each.last, delivery, asked)
                made.append(Batch(each.first, each.last, delivery))
        at = bisect_left(self.batches, first, key=first_of)
        self.batches[at:at] = made
        if at == 0:
            self.start_offset = first
        self.end_offset = max(self.end_offset, end)
        if asked.limited and end - first + 1 > room:
            end = first + room - 1
            result = [Acquired(first, end, 1)]
        self.close_gap(end + 1)
        return result

    def _archive(self, batch: Batch, first: int, last: int) -> None:
        """Records of a batch that are acquired will never be delivered."""
        if not batch.within(first, last) and batch.all is not None:
            if batch.all.state is not RecordState.ACQUIRED:
                return
            batch.split()
        for _, _, each in batch.parts(first, last):
            if each.state is RecordState.ACQUIRED:
                each.remove()


def _count(acquired: list[Acquired]) -> int:
    return sum(each.last - each.first + 1 for each in acquired)


def _without(acquired: Acquired, first: int, last: int) -> Iterator[Acquired]:
    """What is left of a range without the offsets from `first` to `last`."""
    if acquired.last < first or last < acquired.first:
        yield acquired
        return
    if acquired.first < first:
        yield Acquired(acquired.first, first - 1, acquired.delivery_count)
    if last < acquired.last:
        yield Acquired(last + 1, acquired.last, acquired.delivery_count)
