"""What a share group has of one partition, at the leader of the partition (`SharePartition.java` of 4.3.1).

An acknowledgement is decided, then written by the share coordinator, then committed or undone: `acknowledge`
and `release_all` give a `Change`, and the caller says what became of it. When a lock has ended, `expire`
changes the records at once, and the caller calls `advance` when the share coordinator has answered, whatever
it was."""

import heapq
from bisect import bisect_right
from collections.abc import Generator, Iterable
from itertools import islice
from typing import Self

from mockbroker.portions import PORTION, Pace, at_once

from .acknowledgement import (
    Acknowledgement,
    AcknowledgementError,
    Change,
    Letters,
    check_batch,
    check_record,
)
from .acquiring import Acquiring
from .flight import ShareLimits, first_of
from .in_flight import NOBODY, Batch, Delivery, StateBatch
from .states import ACKNOWLEDGEMENTS, RecordEvent, RecordState


class SharePartition(Acquiring):
    """Offsets and states; every time is in ms."""

    @classmethod
    def restore(
        cls, start_offset: int, batches: Iterable[StateBatch], limits: ShareLimits | None = None
    ) -> Self:
        """What a new leader knows. Raises ValueError if the batches are not those of a share partition."""
        return at_once(cls.restoring(start_offset, batches, limits))

    @classmethod
    def restoring(
        cls, start_offset: int, batches: Iterable[StateBatch], limits: ShareLimits | None = None
    ) -> Generator[None, None, Self]:
        """As `restore`, in parts."""
        made = cls(start_offset, limits)
        expected, gap, pace = start_offset, None, Pace(4 * PORTION)
        for each in batches:
            if each.first < expected or each.last < each.first:
                raise ValueError(f"no batch can begin at {each.first} and end at {each.last} here")
            if gap is None and each.first > expected:
                gap = expected
            expected = each.last + 1
            made.batches.append(Batch(each.first, each.last, Delivery(each.state, each.delivery_count)))
            if pace.enough():
                yield
        if made.batches:
            made.end_offset = made.batches[-1].last
            if gap is not None:
                made.gap = gap, made.end_offset
            for first, last, delivery in made.parts():
                made.count(first, last, RecordState.AVAILABLE, delivery.state)
                if delivery.free:
                    made.may_be_free(first, last)
                if pace.enough():
                    yield
            while made.advance(most=PORTION):
                yield
        return made

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

    def release_all(self, member: str, *, takes_back: bool = False, stops: bool = False) -> Change:
        """Lets go what a member has whose share session has ended. If it `takes_back` deliveries, they do not
        count. If it `stops`, what is behind another member's in a batch stays locked (KAFKA-19953)."""
        change = Change()
        for batch in self.batches:
            if batch.first < self.start_offset <= batch.last and batch.all and batch.all.member == member:
                batch.split()
            for first, last, each in batch.parts():
                if stops and batch.each is not None and each.member not in (member, NOBODY):
                    break
                if each.state is RecordState.ACQUIRED and each.member == member:
                    self._begin(change, first, last, each, self._release(last), takes_back=takes_back)
        return change

    def _begin(
        self,
        change: Change,
        first: int,
        last: int,
        delivery: Delivery,
        event: RecordEvent,
        *,
        takes_back: bool = False,
    ) -> None:
        was, limits = delivery.state, self.limits
        change.begin(
            first,
            last,
            delivery,
            event,
            limits.delivery_count,
            takes_back=takes_back,
            sets_aside=limits.sets_aside,
        )
        self.count(first, last, was, delivery.state)

    def commit(self, change: Change, *, moves_back: bool = False) -> bool:
        """The change was written. Whether the start offset moved; see `advance`."""
        for batch, each in zip(change.batches, change.changed, strict=True):
            each.commit()
            if each.free:
                self.may_be_free(batch.first, batch.last)
        return bool(change.batches) and self.advance(moves_back=moves_back)

    def undo(self, change: Change, now: int) -> None:
        """The change was not written."""
        for batch, each in zip(change.batches, change.changed, strict=True):
            was = each.state
            each.undo(now, self.limits.delivery_count)
            self.count(batch.first, batch.last, was, each.state)
            if each.free:
                self.may_be_free(batch.first, batch.last)

    def next_expiry(self) -> int | None:
        """When `expire` has something to look at, None if nothing is locked."""
        return self.locks[0][0] if self.locks else None

    def expire(self, now: int) -> list[StateBatch]:
        """Lets go whose locks have ended: what is to be written. `advance` follows."""
        written: list[StateBatch] = []
        while self.locks and self.locks[0][0] <= now:
            _, low, high = heapq.heappop(self.locks)
            for batch in self.overlapping(low, high):
                if batch.first < self.start_offset <= batch.last and _expired(batch.all, now):
                    batch.split()
                for first, last, each in batch.parts(low, high):
                    if _expired(each, now):
                        limits = self.limits
                        each.let_go(self._release(last), limits.delivery_count, sets_aside=limits.sets_aside)
                        self.count(first, last, RecordState.ACQUIRED, each.state)
                        if each.free:
                            self.may_be_free(first, last)
                        written.append(StateBatch(first, last, each.state, each.count))
        return written

    def set_aside(self) -> list[Letters]:
        """What is still to be written to a dead letter topic."""
        limit = self.limits.delivery_count
        return [
            Letters(first, last, each.count, each.count >= limit)
            for first, last, each in self.parts()
            if each.state is RecordState.ARCHIVING
        ]

    def archive(self, letters: Iterable[Letters]) -> list[StateBatch]:
        """These were written, or can't be: what is to be written of them. `advance` follows."""
        written = []
        for asked in letters:
            for batch in self.overlapping(asked.first, asked.last):
                for first, last, each in batch.parts(asked.first, asked.last):
                    if each.state is RecordState.ARCHIVING:
                        each.let_go(RecordEvent.ARCHIVE, self.limits.delivery_count)
                        self.count(first, last, RecordState.ARCHIVING, each.state)
            written.append(StateBatch(asked.first, asked.last, RecordState.ARCHIVED, asked.count))
        return written

    @property
    def has_locks(self) -> bool:
        """Whether a member has acquired a record."""
        return any(each.state is RecordState.ACQUIRED for _, _, each in self.parts())

    def end_locks(self, now: int) -> bool:
        """Lets all locks end now, for `expire` to look at. Whether there are any."""
        held = [part for part in self.parts() if part[2].state is RecordState.ACQUIRED]
        for first, last, each in held:
            each.locked_until = now
            heapq.heappush(self.locks, (now, first, last))
        return bool(held)

    def move_log_start(self, offset: int, *, moves_gap: bool = False) -> None:
        """The log begins at `offset` now. What nobody has is archived at once, the rest when it is let go. If
        it `moves_gap`, what was deleted of a gap is not asked for any more."""
        if offset <= self.start_offset:
            return
        if moves_gap and self.gap is not None and self.gap[0] < offset:
            self.close_gap(offset)
        self.remove(self.start_offset, offset - 1)
        self.begin_at(offset)
        self.end_offset = max(self.end_offset, offset)

    def advance(self, *, moves_back: bool = False, most: int | None = None) -> bool:
        """Moves the start offset past what is done, past `most` batches if that is given, and forgets batches
        below it. Whether it moved. If it `moves_back`, that may be behind the log start (KAFKA-19859)."""
        floor = self.floor(self.start_offset)
        if floor is None or (moves_back and not _done_at(floor, self.start_offset)):
            return False
        gap, done = self.open_gap(), None
        for batch in islice(self.batches, most):
            if gap is not None and batch.last >= gap:
                break
            if (left := batch.first_undone()) is not None:
                done = left - 1 if left > batch.first else done
                break
            done = batch.last
        if done is None:
            return False
        was = self.start_offset
        if done == self.batches[-1].last:
            # The log may have moved the start offset further.
            self.begin_at(max(done + 1, was))
            self.end_offset = self.start_offset
            self.batches.clear()
            return self.start_offset > was
        at = bisect_right(self.batches, done, key=first_of)
        # Offsets between two batches have no records, unless the share coordinator did not know of them.
        begin = self.batches[at].first if self.batches[at - 1].last == done else done + 1
        start = begin if gap is None else min(begin, gap)
        self.begin_at(start if moves_back else max(was, start))
        del self.batches[: bisect_right(self.batches, done, key=_last)]
        return self.start_offset != was

    def _acknowledged(self, asked: Acknowledgement) -> list[Batch]:
        floor = self.floor(asked.first)
        if floor is None and asked.first < self.start_offset <= asked.last:
            floor = self.floor(self.start_offset)
            if floor is None:
                # Real brokers look for the batch at the start offset without asking whether there is one.
                raise AcknowledgementError("UNKNOWN_SERVER_ERROR", "No batch is at the start offset.")
        if floor is None:
            raise AcknowledgementError(
                "INVALID_RECORD_STATE",
                "Batch record not found. The request batch offsets are not found in the cache.",
            )
        batches = self.between(floor.first, asked.last)
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
                if not self.limits.renews:
                    raise AcknowledgementError(
                        "INVALID_RECORD_STATE", "Renewing acquisition locks is not enabled for the group."
                    )
                each.locked_until = now + self.limits.lock_ms
                heapq.heappush(self.locks, (each.locked_until, low, high))
            else:
                self._begin(change, low, high, each, event)

    def _release(self, last: int) -> RecordEvent:
        return RecordEvent.REMOVE if last < self.start_offset else RecordEvent.RELEASE


def _done_at(batch: Batch, offset: int) -> bool:
    return batch.first <= offset <= batch.last and batch.at(offset).done


def _last(batch: Batch) -> int:
    return batch.last


def _expired(delivery: Delivery | None, now: int) -> bool:
    return (
        delivery is not None
        and delivery.state is RecordState.ACQUIRED
        and delivery.locked_until is not None
        and delivery.locked_until <= now
    )
