"""What is known of a share group in a partition."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from .offset_ranges import OffsetRanges
from .row import Row


class Flight(NamedTuple):
    """Records of which the same is known, up to and without `end`."""

    first: int
    end: int
    state: str
    deliveries: int
    lock: tuple[str, ...] = ()
    """The member that has acquired them, and until when."""

    @property
    def is_live(self) -> bool:
        """Whether a member has them, or is to get them again."""
        return self.deliveries > 0 and self.state in ("acquired", "available")


def flights(detail: str | None) -> list[Flight]:
    """What is in flight, from the detail of a row."""
    found = []
    for each in (detail or "").split(", ") if detail else ():
        offsets, state, deliveries, *lock = each.split(" ")
        first, _, last = offsets.partition("-")
        found.append(Flight(int(first), int(last) + 1, state, int(deliveries), tuple(lock)))
    return found


class Passed(NamedTuple):
    """The start offset went past records, or they were archived, between two rows. Without `deliveries`
    nobody had been given them."""

    before: Row | None
    row: Row
    first: int
    end: int
    deliveries: int


class Locked(NamedTuple):
    """What a member had when it ended its share session."""

    row: Row
    flight: Flight


@dataclass(slots=True)
class ShareGroup:
    """`first` is the first row about it, `start` the last one that tells where it is, with what is in
    `flight` then, and `checked` up to where it is known how it got there. `given` was acquired, `said` are
    records of which a member said that it is done with them, whatever it was answered, and `accepted` those
    for which that was confirmed, except `fresh`, the last ones: they count for who asks later than
    `settled_ms`.

    `again` is what was given after that, from the first row that tells so, `passed` what it went past,
    `locked` what is locked though nobody can have it. `altered` is who told it where to begin, `altering`
    that somebody may have. `waits` are the first and the last row that tell of a member which was given
    nothing, although records were there.
    """

    first: Row
    start: Row | None = None
    flight: list[Flight] = field(default_factory=list)
    checked: int | None = None
    given: OffsetRanges = field(default_factory=OffsetRanges)
    said: OffsetRanges = field(default_factory=OffsetRanges)
    accepted: OffsetRanges = field(default_factory=OffsetRanges)
    fresh: deque[Row] = field(default_factory=deque)
    settled_ms: int = 0
    again: OffsetRanges = field(default_factory=OffsetRanges)
    again_rows: tuple[Row, ...] = ()
    passed: list[Passed] = field(default_factory=list)
    locked: list[Locked] = field(default_factory=list)
    altering: bool = False
    altered: Row | None = None
    ignores: bool = False
    waits: tuple[Row, Row] | None = None
