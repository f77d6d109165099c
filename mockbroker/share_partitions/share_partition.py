"""What a share group has of one partition, at the leader of the partition (`SharePartition.java` of 4.3.1).

An acknowledgement is decided, then written by the share coordinator, then committed or undone: `acknowledge`
and `release_all` give a `Change`, and the caller says what became of it. When a lock has ended, `expire`
changes the records at once, and the caller calls `advance` when the share coordinator has answered, whatever
it was."""

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from mockbroker.share_partitions.acknowledgement import (
    Acknowledgement,
    AcknowledgementError,
    Change,
    check_batch,
    check_record,
)
from mockbroker.share_partitions.in_flight import Batch, Delivery, StateBatch
from mockbroker.share_partitions.states import ACKNOWLEDGEMENTS, RecordEvent, RecordState


@dataclass(frozen=True, slots=True)
class ShareLimits:
    """`group.share.delivery.count.limit`, `group.share.record.lock.duration.ms` and
    `group.share.partition.max.record.locks`, or what a group has instead."""

    delivery_count: int = 5
    lock_ms: int = 30_000
    records: int = 2000


@dataclass(frozen=True, slots=True)
class Acquired:
    """Records that a member was given."""

    first: int
    last: int
    delivery_count: int


class SharePartition:
    """Offsets and states; every time is in ms."""

    def __init__(self, start_offset: int, limits: ShareLimits | None = None) -> None:
        self.start_offset = start_offset
        """SPSO: the first record that is not done."""
        self.end_offset = start_offset
        """SPEO: the last record in flight; the next one to be fetched if none is."""
        self.limits = limits or ShareLimits()
        self._batches: list[Batch] = []
        self._locks: list[tuple[int, int, int]] = []
        self._gap: tuple[int, int] | None = None
        """Where the records begin of which the share coordinator knew nothing, and the end offset then."""

    @classmethod
    def restore(
        cls, start_offset: int, batches: Iterable[StateBatch], limits: ShareLimits | None = None
    ) -> Self:
        """What a new leader knows. Raises ValueError if the batches are not those of a share partition."""
        made = cls(start_offset, limits)
        expected, gap = start_offset, None
        for each in batches:
            if each.first < expected or each.last < each.first:
                raise ValueError(f"no batch can begin at {each.first} and end at {each.last} here")
            if gap is None and each.first > expected:
                gap = expected
            expected = each.last + 1
            made._batches.append(Batch(each.first, each.last, Delivery(each.state, each.delivery_count)))
        if made._batches:
            made.end_offset = made._batches[-1].last
            if gap is not None:
                made._gap = gap, made.end_offset
            made.advance()
        return made

    @property
    def in_flight(self) -> int:
        """How many offsets there are from the start to the end offset."""
        return self.end_offset - self.start_offset + 1 if self._batches else 0

    def states(self) -> list[StateBatch]:
        """The states of all records in flight."""
        return [
            StateBatch(max(first, self.start_offset), last, each.state, each.count)
            for batch in self._batches
            for first, last, each in batch.parts()
            if last >= self.start_offset
        ]

    def next_fetch_offset(self) -> int:
        """Where to read next: at the first record that was let go or is unknown, else after all of them."""
        if not self._batches or self.start_offset > self._batches[-1].last:
            return self.end_offset
        gap = self._open_gap()
        for batch in self._batches:
            if gap is not None:
                if batch.first > gap:
                    return gap
                gap = max(gap, batch.last + 1)
            for first, _, each in batch.parts():
                if each.free:
                    return first
        return self.end_offset + 1

    def can_acquire(self) -> bool:
        """Whether it is worth reading: something was let go, or fewer records are in flight than may be."""
        return self.next_fetch_offset() != self.end_offset + 1 or self.in_flight < self.limits.records

    def acquire(
        self,
        member: str,
        fetched: Sequence[tuple[int, int]],
        fetch_offset: int,
        *,
        max_records: int,
        batch_size: int,
        now: int,
    ) -> list[Acquired]:
        """Gives a member what it may have of the batches that were read from `fetch_offset`; `fetched` has
        their first and last offsets. New batches are given whole, so it may be up to a batch above
        `max_records`."""
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
            self._remove(fetch_offset, first - 1)
        asked = (fetched, member, batch_size, now + self.limits.lock_ms)
        floor = self._floor(first)
        if floor is None:
            begin = max(first, self.start_offset)
        else:
            begin = floor.first if floor.last >= first else first
        known = self._between(min(first, begin), last)
        if not known:
            return self._acquire_new(begin, last, room, *asked)
        result: list[Acquired] = []
        for batch in known:
            if self._open_gap() is not None:
                if begin < batch.first and _count(result) < room:
                    result += self._acquire_new(begin, batch.first - 1, room - _count(result), *asked)
                begin = batch.last + 1
            if _count(result) >= room:
                break
            result += self._acquire_known(batch, first, last, member, now + self.limits.lock_ms)
        if _count(result) < room and known[-1].last < last:
            result += self._acquire_new(known[-1].last + 1, last, room - _count(result), *asked)
        if result:
            self._close_gap(result[-1].last + 1)
        return result

    def acknowledge(self, member: str, acknowledgements: Iterable[Acknowledgement], now: int) -> Change:
        """Raises AcknowledgementError, after undoing what came before it. Locks that were renewed stay so."""
        change = Change()
        try:
            for each in acknowledgements:
                if any(kind not in ACKNOWLEDGEMENTS for kind in each.types):
                    raise AcknowledgementError(
                        "INVALID_REQUEST", f"Invalid acknowledge type: [{', '.join(map(str, each.types))}]"
                    )
                if each.last >= self.start_offset:
                    for batch in self._acknowledged(each):
                        if batch.last >= self.start_offset:
                            self._acknowledge(member, each, batch, change, now)
        except AcknowledgementError:
            self.undo(change, now)
            raise
        return change

    def release_all(self, member: str) -> Change:
        """Lets go what a member has whose share session has ended."""
        change = Change()
        for batch in self._batches:
            if batch.first < self.start_offset <= batch.last and batch.all and batch.all.member == member:
                batch.split()
            for first, last, each in batch.parts():
                if each.state is RecordState.ACQUIRED and each.member == member:
                    change.begin(first, last, each, self._release(last), self.limits.delivery_count)
        return change

    def commit(self, change: Change) -> bool:
        """The change was written. Whether the start offset moved."""
        for each in change.changed:
            each.commit()
        return bool(change.batches) and self.advance()

    def undo(self, change: Change, now: int) -> None:
        """The change was not written."""
        for each in change.changed:
            each.undo(now, self.limits.delivery_count)

    def next_expiry(self) -> int | None:
        """When `expire` has something to look at, None if nothing is locked."""
        return self._locks[0][0] if self._locks else None

    def expire(self, now: int) -> list[StateBatch]:
        """Lets go whose locks have ended: what is to be written. `advance` follows."""
        written: list[StateBatch] = []
        while self._locks and self._locks[0][0] <= now:
            _, low, high = heapq.heappop(self._locks)
            floor = self._floor(low)
            for batch in self._between(low if floor is None else floor.first, high):
                if batch.first < self.start_offset <= batch.last and _expired(batch.all, now):
                    batch.split()
                for first, last, each in batch.parts(low, high):
                    if _expired(each, now):
                        each.let_go(self._release(last), self.limits.delivery_count)
                        written.append(StateBatch(first, last, each.state, each.count))
        return written

    def move_log_start(self, offset: int) -> None:
        """The log begins at `offset` now. What nobody has is archived at once, the rest when it is let go."""
        if offset <= self.start_offset:
            return
        self._remove(self.start_offset, offset - 1)
        self.start_offset = offset
        self.end_offset = max(self.end_offset, offset)

    def advance(self) -> bool:
        """Moves the start offset past what is done, and forgets batches below it. Whether it moved."""
        if self._floor(self.start_offset) is None:
            return False
        gap, done = self._open_gap(), None
        for batch in self._batches:
            if gap is not None and batch.last >= gap:
                break
            rest = [(first, each) for first, _, each in batch.parts() if not each.done]
            if rest:
                done = rest[0][0] - 1 if rest[0][0] > batch.first else done
                break
            done = batch.last
        if done is None:
            return False
        was = self.start_offset
        if done == self._batches[-1].last:
            # The log may have moved the start offset further.
            self.start_offset = self.end_offset = max(done + 1, was)
            self._batches.clear()
            return self.start_offset > was
        at = bisect_right(self._batches, done, key=_first)
        # Offsets between two batches have no records, unless the share coordinator did not know of them.
        begin = self._batches[at].first if self._batches[at - 1].last == done else done + 1
        self.start_offset = max(was, begin if gap is None else min(begin, gap))
        del self._batches[: bisect_right(self._batches, done, key=_last)]
        return self.start_offset > was

    def _acquire_known(self, batch: Batch, first: int, last: int, member: str, until: int) -> list[Acquired]:
        if not batch.within(first, last) and batch.all is not None:
            if not batch.all.free:
                return []
            batch.split()
        result: list[Acquired] = []
        for low, high, each in batch.parts(first, last):
            if each.free:
                each.acquire(member, until)
                heapq.heappush(self._locks, (until, low, high))
                if result and (result[-1].last, result[-1].delivery_count) == (low - 1, each.count):
                    result[-1] = Acquired(result[-1].first, high, each.count)
                else:
                    result.append(Acquired(low, high, each.count))
        return result

    def _acquire_new(
        self,
        first: int,
        last: int,
        room: int,
        fetched: Sequence[tuple[int, int]],
        member: str,
        batch_size: int,
        until: int,
    ) -> list[Acquired]:
        if not self._batches:
            first = max(first, self.end_offset)
        end = last
        if room < last - first + 1:
            end = first + room - 1
            end = next((high for low, high in fetched if low <= end <= high), end)
            if self._open_gap() is not None:
                end = min(end, last)
        begins = [first]
        if end - first + 1 > batch_size:
            for low, _ in fetched:
                if low <= end and low - begins[-1] >= batch_size:
                    begins.append(low)
        result = [
            Acquired(low, high - 1, 1) for low, high in zip(begins, [*begins[1:], end + 1], strict=True)
        ]
        at = bisect_left(self._batches, first, key=_first)
        self._batches[at:at] = [
            Batch(each.first, each.last, Delivery(RecordState.ACQUIRED, 1, member, until)) for each in result
        ]
        for each in result:
            heapq.heappush(self._locks, (until, each.first, each.last))
        if at == 0:
            self.start_offset = first
        self.end_offset = max(self.end_offset, end)
        self._close_gap(end + 1)
        return result

    def _acknowledged(self, asked: Acknowledgement) -> list[Batch]:
        floor = self._floor(asked.first)
        if floor is None and asked.first < self.start_offset <= asked.last:
            floor = self._floor(self.start_offset)
        if floor is None:
            raise AcknowledgementError(
                "INVALID_RECORD_STATE",
                "Batch record not found. The request batch offsets are not found in the cache.",
            )
        batches = self._between(floor.first, asked.last)
        for which, offset in (("first", asked.first), ("last", asked.last)):
            if batches[-1].last < offset:
                raise AcknowledgementError(
                    "INVALID_REQUEST",
                    f"Batch record not found. The {which} offset in request is past acquired records.",
                )
        return batches

    def _acknowledge(
        self, member: str, asked: Acknowledgement, batch: Batch, change: Change, now: int
    ) -> None:
        if batch.all is not None:
            check_batch(batch.all, member)
            within = batch.within(asked.first, asked.last)
            if not within or len(asked.types) > 1 or batch.first < self.start_offset:
                batch.split()
        for low, high, each in batch.parts(max(asked.first, self.start_offset), asked.last):
            if batch.each is not None:
                check_record(each, member)
            event = ACKNOWLEDGEMENTS[asked.types[low - asked.first if len(asked.types) > 1 else 0]]
            if event is RecordEvent.RENEW:
                each.locked_until = now + self.limits.lock_ms
                heapq.heappush(self._locks, (each.locked_until, low, high))
            else:
                change.begin(low, high, each, event, self.limits.delivery_count)

    def _release(self, last: int) -> RecordEvent:
        return RecordEvent.REMOVE if last < self.start_offset else RecordEvent.RELEASE

    def _remove(self, first: int, last: int) -> None:
        for batch in self._batches:
            if batch.first > last:
                break
            if batch.last < first or (batch.all is not None and batch.all.state is not RecordState.AVAILABLE):
                continue
            if not batch.within(first, last):
                batch.split()
            for _, _, each in batch.parts(first, last):
                if each.state is RecordState.AVAILABLE:
                    each.remove()

    def _open_gap(self) -> int | None:
        return self._gap[0] if self._gap is not None and self._gap[1] == self.end_offset else None

    def _close_gap(self, offset: int) -> None:
        """What is below `offset` is known now."""
        if self._gap is not None:
            end = self._gap[1]
            self._gap = (offset, end) if end == self.end_offset and offset <= end else None

    def _floor(self, offset: int) -> Batch | None:
        at = bisect_right(self._batches, offset, key=_first)
        return self._batches[at - 1] if at else None

    def _between(self, first: int, last: int) -> list[Batch]:
        low = bisect_left(self._batches, first, key=_first)
        return self._batches[low : bisect_right(self._batches, last, key=_first)]


def _first(batch: Batch) -> int:
    return batch.first


def _last(batch: Batch) -> int:
    return batch.last


def _count(acquired: list[Acquired]) -> int:
    return sum(each.last - each.first + 1 for each in acquired)


def _expired(delivery: Delivery | None, now: int) -> bool:
    return (
        delivery is not None
        and delivery.state is RecordState.ACQUIRED
        and delivery.locked_until is not None
        and delivery.locked_until <= now
    )
