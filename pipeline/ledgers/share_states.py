"""What share coordinators wrote of a share group and a partition (`__share_group_state`, KIP-932).

They write what members have said of records, and that locks have ended; which records a member has is never
written, and the start offset as it was before what is said with it. So one row tells what is done, and the
next one that the start offset has moved. Whoever sets the offset of a group makes its state anew, without
states of records.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..readers.broker_messages import COMPACTED
from ..readers.share_states import DELETED, KIND, LIMIT, SET_LIMIT, WARNING, WHOLE
from ..rows import set_of_group
from ..tables import Table
from ..tables import functions as F
from .ledger import Ledger
from .offset_ranges import OffsetRanges, Range
from .row import Note, Row, goes_on, note, voice
from .share_group import Flight, flights

OR_REJECTED: Final = "or rejected in the end"
"""How the detail of a note ends about records that a member may have rejected after their last delivery."""
_CONFIG: Final = "config"
_SET: Final = re.compile(SET_LIMIT)
_DONE: Final = ("acknowledged", "archived")
_SKEW_MS: Final = 2_000
"""The greatest difference between clocks that is allowed for: that of a leader and of a share coordinator."""
_MARKED: Final = ("transactional", "control")
"""Batches that a group is perhaps not given, and passes over: with read_committed what was aborted has no
state."""
_RECORDS: Final = ("segment", "dump-log")
_END: Final = 1 << 62


class _Passed(NamedTuple):
    """The start offset went past records between two rows, and nobody is known to be done with them; or
    somebody `set` it."""

    before: Row
    row: Row
    first: int
    end: int
    set: bool = False


@dataclass(slots=True)
class _Kept:
    """What one log tells of a group: its `last` row, and the last one with a `start` offset. `done` are
    records that were acknowledged or archived since `whole`, the last row with the whole state: without one
    the log begins in the middle. `again` were let go, `worn` were archived, with the rows that tell so."""

    last: Row
    start: Row | None = None
    whole: Row | None = None
    done: OffsetRanges = field(default_factory=OffsetRanges)
    again: OffsetRanges = field(default_factory=OffsetRanges)
    passed: list[_Passed] = field(default_factory=list)
    worn: list[tuple[Range, int, tuple[Row, ...]]] = field(default_factory=list)

    @property
    def began(self) -> int:
        return 0 if self.start is None else self.start.offset or 0

    @property
    def reached(self) -> int:
        """The first offset that is not done."""
        first, end = next(self.done.within(self.began, _END), (_END, _END))
        return end if first == self.began else self.began

    @property
    def is_bare(self) -> bool:
        """Whether it says nothing of records from the start offset on."""
        left = (each.within(self.began, _END) for each in (self.done, self.again))
        return not any(map(list, left))


@dataclass(slots=True)
class ShareStates:
    """`kept` by group and log. `starts` tell in order of time where the partition's log begins, each later
    than the one before. `written` are the records of its segments that every group is given, `marked` the
    others, and `warned` has by group those that it is given for the last time. `limits` are how often groups
    are given a record."""

    kept: dict[tuple[str | None, str], _Kept] = field(default_factory=dict)
    starts: list[Row] = field(default_factory=list)
    written: OffsetRanges = field(default_factory=OffsetRanges)
    marked: OffsetRanges = field(default_factory=OffsetRanges)
    warned: dict[str | None, dict[int, Row]] = field(default_factory=dict)
    limits: dict[str | None, int] = field(default_factory=dict)
    compacted: bool = False


def step(state: ShareStates, row: Row) -> Iterable[Note]:
    return _STEPS[row.kind](state, row)


def end(state: ShareStates) -> Iterator[Note]:
    for each in state.kept.values():
        yield from _ended(state, each)


# -- the partition


def _append(state: ShareStates, row: Row) -> Iterable[Note]:
    if row.source in _RECORDS and row.offset is not None and row.end_offset is not None:
        marked = any(word in (row.detail or "") for word in _MARKED)
        (state.marked if marked else state.written).add(row.offset, row.end_offset)
    return ()


def _log_start(state: ShareStates, row: Row) -> Iterable[Note]:
    if row.offset and (not state.starts or row.offset > (state.starts[-1].offset or 0)):
        state.starts.append(row)
    return ()


def _log(state: ShareStates, row: Row) -> Iterable[Note]:
    """A topic of that name may be created anew."""
    if row.detail == "deleted":
        state.starts.clear()
        state.written, state.marked = OffsetRanges(), OffsetRanges()
    state.compacted |= row.detail == COMPACTED
    return ()


def _warning(state: ShareStates, row: Row) -> Iterable[Note]:
    if row.offset is not None:
        state.warned.setdefault(row.group, {})[row.offset] = row
    return ()


def _config(state: ShareStates, row: Row) -> Iterable[Note]:
    told = _SET.search(row.detail or "")
    state.limits[row.group] = int(told[1]) if told else LIMIT
    return ()


# -- what a log tells of a group


def _share_state(state: ShareStates, row: Row) -> Iterator[Note]:
    key = row.group, voice(row)
    kept = state.kept.get(key)
    if row.detail == DELETED:
        if kept is not None:
            yield from _ended(state, kept)
            del state.kept[key]
        return
    whole, told = _read(row)
    if kept is not None and not goes_on(kept.last, row):
        kept = None  # the clock was set back: nobody knows what came first
    if kept is None:
        kept = state.kept[key] = _Kept(row)
    elif whole and not told and (row.offset != kept.began or not kept.is_bare):
        if kept.start is not None and kept.whole is not None and row.offset is not None:
            yield from _set(kept, row, row.offset)
        yield from _ended(state, kept)
        kept = state.kept[key] = _Kept(row)
    if row.offset is not None:
        _moved(kept, row, row.offset)
    if whole:
        kept.whole = row
    for each in told:
        _said(state, kept, row, each)
    kept.last = row


def _read(row: Row) -> tuple[bool, list[Flight]]:
    """Whether it has the whole state, and what it says of records."""
    detail = row.detail or ""
    whole = detail.startswith(WHOLE)
    return whole, flights(detail.removeprefix(WHOLE).removeprefix(", "))


def _set(kept: _Kept, row: Row, offset: int) -> Iterator[Note]:
    reached = kept.reached
    if offset < reached:
        yield note("share-set-back", kept.last, row, offset=offset, end_offset=reached)
    else:
        _pass(kept, row, (reached, offset), is_set=True)


def _moved(kept: _Kept, row: Row, offset: int) -> None:
    if kept.start is not None and kept.whole is not None and offset > kept.began:
        _pass(kept, row, (kept.began, offset))
    kept.start = row


def _pass(kept: _Kept, row: Row, passed: Range, *, is_set: bool = False) -> None:
    for some in OffsetRanges([passed]).without(kept.done):
        kept.passed.append(_Passed(kept.last, row, *some, is_set))


def _said(state: ShareStates, kept: _Kept, row: Row, each: Flight) -> None:
    if each.state not in _DONE:
        kept.again.add(each.first, each.end)
        return
    for first, end in OffsetRanges([(each.first, each.end)]).without(kept.done):
        kept.done.add(first, end)
        if each.state == "archived":
            warned = _warned(state, row, range(first, end))
            if warned is not None or each.deliveries >= state.limits.get(row.group, LIMIT):
                shown = (kept.last, row) if warned is None else (warned, kept.last, row)
                kept.worn.append(((first, end), each.deliveries, shown))


def _warned(state: ShareStates, row: Row, offsets: range) -> Row | None:
    told = state.warned.get(row.group, {})
    tried = offsets if len(offsets) < len(told) else told
    return next((told[at] for at in tried if at in offsets and at in told), None)


# -- what is known at the end


def _ended(state: ShareStates, kept: _Kept) -> Iterator[Note]:
    if kept.worn:
        gone = OffsetRanges(each for each, *_ in kept.worn)
        firsts, ends = zip(*gone, strict=True)
        most = max(deliveries for _, deliveries, _ in kept.worn)
        rows = [row for *_, rows in (kept.worn[0], kept.worn[-1]) for row in rows]
        about = {"offset": firsts[0], "end_offset": ends[-1], "number": gone.count}
        yield note("share-worn", *rows, client=None, **about, detail=f"{most} {OR_REJECTED}")
    for each in kept.passed:
        yield from _went_past(state, kept, each)


def _went_past(state: ShareStates, kept: _Kept, passed: _Passed) -> Iterator[Note]:
    """What was deleted by then, and what was there. Without segments nobody knows what was there, but for
    what somebody set: the group has no members then, and what was not let go before nobody was given."""
    known = bisect_right(state.starts, passed.row.at_ms + _SKEW_MS, key=lambda row: row.at_ms)
    start = state.starts[known - 1] if known else None
    begins = 0 if start is None else start.offset or 0
    gone = OffsetRanges([(passed.first, passed.end)])
    there = OffsetRanges(gone.within(begins, _END))
    gone.remove(begins, _END)
    why = None if start is None else start.detail
    for first, end in gone.without(state.marked):
        about = {"offset": first, "end_offset": end, "detail": why}
        yield note("share-deleted", passed.before, start, passed.row, client=None, **about)
    written = OffsetRanges() if state.compacted else OffsetRanges(_both(there, state.written))
    left = written if written or not passed.set else there
    given = OffsetRanges(_both(left, kept.again)) if passed.set else left
    for what, some in (("share-skipped", left.without(given)), ("share-passed", given)):
        for first, end in some:
            yield note(what, passed.before, passed.row, client=None, offset=first, end_offset=end)


def _both(some: OffsetRanges, others: OffsetRanges) -> Iterator[Range]:
    for first, end in some:
        yield from others.within(first, end)


def _shared(rows: Table) -> Table:
    """Only partitions of which there is a state, each with what is set of its groups."""
    of_groups = F.col("kind") == _CONFIG
    shared = rows.where(F.col("kind") == KIND).select("key", "group").distinct()
    own = rows.where(of_groups).drop("key").join(shared, ["group"])
    return rows.where(~of_groups).join(shared, ["key"], "left_semi").unionByName(own).select(*rows.columns)


_STEPS: Final = {
    KIND: _share_state,
    WARNING: _warning,
    _CONFIG: _config,
    "append": _append,
    "log-start": _log_start,
    "log": _log,
}
_OF_PARTITION: Final = (
    (F.col("kind") != _CONFIG) & F.col("topic").isNotNull() & F.col("partition").isNotNull()
)
LEDGER: Final = Ledger(
    "states of share groups",
    tuple(_STEPS),
    (_OF_PARTITION | set_of_group()) & F.col("time_ms").isNotNull(),
    F.concat_ws("\n", "topic", "partition"),
    ("group", "topic", "partition", "offset", "end_offset", "detail"),
    ShareStates,
    step,
    end,
    spread=_shared,
    needs=(KIND,),
)
