"""Records in flight: batches whose records share one state, until something happens to a part of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from .states import TRANSITIONS, RecordEvent, RecordState

NOBODY: Final = ""


@dataclass(frozen=True, slots=True)
class StateBatch:
    """What is to be written of the records from `first` to `last`."""

    first: int
    last: int
    state: RecordState
    delivery_count: int


@dataclass(slots=True)
class Delivery:
    """The state of one record, or of all records of a batch (`InFlightState.java`)."""

    state: RecordState
    count: int
    member: str = NOBODY
    locked_until: int | None = None
    """In ms; None unless acquired."""
    before: tuple[RecordState, str] | None = None
    """The state and the member until the change that is being written; None if none is."""

    @property
    def free(self) -> bool:
        return self.state is RecordState.AVAILABLE and self.before is None

    @property
    def done(self) -> bool:
        return self.state.final and self.before is None

    def acquire(self, member: str, until: int) -> None:
        self.state = TRANSITIONS[self.state][RecordEvent.ACQUIRE]
        self.count += 1
        self.member = member
        self.locked_until = until

    def begin(
        self, event: RecordEvent, limit: int, *, takes_back: bool = False, sets_aside: bool = False
    ) -> None:
        """Changes the state; `commit` or `undo` follows when the change was written, or was not. If it
        `takes_back` the delivery, the record was not delivered. If it `sets_aside`, a record that would be
        archived goes to a dead letter topic first."""
        was = self.state, self.member
        if takes_back and event is RecordEvent.RELEASE:
            self.count -= 1
        self.state = TRANSITIONS[self.state][self._outcome(event, limit, sets_aside=sets_aside)]
        self.member = NOBODY
        self.before = was

    def commit(self) -> None:
        self.before = self.locked_until = None

    def undo(self, now: int, limit: int) -> None:
        """The member has the record again, unless its lock has ended meanwhile or the log has lost the
        record. The delivery count stays. A record that is given up then is no dead letter
        (`InFlightState.completeStateTransition` of 4.4.0)."""
        if self.before is None or self.locked_until is None:
            self.commit()
            return
        self.state, self.member = self.before
        self.before = None
        if self.locked_until <= now:
            self.let_go(RecordEvent.RELEASE, limit)

    def let_go(self, event: RecordEvent, limit: int, *, sets_aside: bool = False) -> None:
        """Changes the state at once: nobody can be told that it could not be written."""
        self.begin(event, limit, sets_aside=sets_aside)
        self.commit()

    def remove(self) -> None:
        """The log does not have the record any more, whether a change is being written or not."""
        self.state = TRANSITIONS[self.state][RecordEvent.REMOVE]
        self.member = NOBODY
        self.locked_until = None

    def _outcome(self, event: RecordEvent, limit: int, *, sets_aside: bool) -> RecordEvent:
        if event is RecordEvent.RELEASE and self.count >= limit:
            event = RecordEvent.EXHAUST
        archives = event in (RecordEvent.EXHAUST, RecordEvent.REJECT)
        return RecordEvent.SET_ASIDE if archives and sets_aside else event


@dataclass(slots=True)
class Batch:
    """The records from `first` to `last`, with one state for `all` or one for `each`
    (`InFlightBatch.java`)."""

    first: int
    last: int
    all: Delivery | None
    each: list[Delivery] | None = None
    most: int = field(init=False)
    """No record was delivered more often."""
    _done: int = field(init=False, default=0)
    """How many of `each`, from the first one on, are known to be done, which they stay."""

    def __post_init__(self) -> None:
        self.most = 0 if self.all is None else self.all.count

    def split(self) -> list[Delivery]:
        """The state of each record; from now on, they may differ."""
        if self.each is None:
            assert self.all is not None
            self.each = [replace(self.all) for _ in range(self.first, self.last + 1)]
            self.all = None
        return self.each

    def at(self, offset: int) -> Delivery:
        """What became of one of its records."""
        if self.each is None:
            assert self.all is not None
            return self.all
        return self.each[offset - self.first]

    def first_free(self, first: int, last: int) -> int | None:
        """The first record from `first` to `last` that can be acquired; the first of the batch if they share
        one state."""
        for low, _, each in self.parts(first, last):
            if each.free:
                return low
        return None

    def first_undone(self) -> int | None:
        """The first record that is not done."""
        if self.each is None:
            assert self.all is not None
            return None if self.all.done else self.first
        while self._done < len(self.each) and self.each[self._done].done:
            self._done += 1
        return self.first + self._done if self._done < len(self.each) else None

    def within(self, first: int, last: int) -> bool:
        return first <= self.first and self.last <= last

    def parts(self, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int, Delivery]]:
        """First offset, last offset and state; for each record from `first` to `last` if the batch is
        split."""
        if self.each is None:
            assert self.all is not None
            yield self.first, self.last, self.all
            return
        end = self.last if last is None else min(last, self.last)
        for offset in range(max(first, self.first), end + 1):
            yield offset, offset, self.each[offset - self.first]
