"""What share groups have got of a partition, have acknowledged and have passed over (KIP-932)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..readers.share_exchanges import ASKED, DONE, NOTHING, UNANSWERED
from ..tables import Table
from ..tables import functions as F
from .ledger import Ledger
from .offset_ranges import OffsetRanges, Range
from .row import Note, Row, note
from .share_group import Flight, Locked, Passed, ShareGroup, flights

_NOTICED_MS: Final = 10_000
"""What took less is not noted: what is let go is written, and perhaps a second time."""
_SAME_LOOK_MS: Final = 1_000
"""What a trace tells so soon of a log may have been before."""
_FINAL: Final = ("accept", "reject", "gap")
_FOR_CERTAIN: Final = ("INVALID_RECORD_STATE", "INVALID_REQUEST", "FENCED_STATE_EPOCH", "UNKNOWN_MEMBER_ID")
"""After other errors an acknowledgement may have been written all the same."""
_OF_GROUPS: Final = (
    *("share-partition", "acquired", "acknowledging", "acknowledged", "share-session", "share-offset"),
)
_END: Final = 1 << 62


@dataclass(slots=True)
class SharePartition:
    """`groups` by name. `written` are records whose producers were answered, without those in transactions,
    which may be aborted; `start` is the last log start, `leader` the last row that tells of one, and
    `created` the one with which the partition began. If it `has_gaps`, it is compacted: nobody knows what
    there is to be had of it."""

    groups: dict[str, ShareGroup] = field(default_factory=dict)
    written: OffsetRanges = field(default_factory=OffsetRanges)
    written_end: int = 0
    start: Row | None = None
    leader: Row | None = None
    created: Row | None = None
    has_gaps: bool = False

    @property
    def log_start(self) -> int:
        return 0 if self.start is None else self.start.offset or 0


def step(state: SharePartition, row: Row) -> Iterable[Note]:
    return _STEPS[row.kind](state, row)


def end(state: SharePartition) -> Iterator[Note]:
    for group in state.groups.values():
        yield from _goes_on(state, group)
        yield from _ended(state, group)


# -- the partition


def _append(state: SharePartition, row: Row) -> Iterable[Note]:
    if row.offset is None or row.end_offset is None or row.transactional_id is not None:
        return ()
    state.written.add(row.offset, row.end_offset)
    state.written_end = max(state.written_end, row.end_offset)
    return ()


def _watermark(state: SharePartition, row: Row) -> Iterable[Note]:
    """What the leader has not got is lost to all, and no group's matter."""
    if row.end_offset is not None and row.end_offset < state.written_end:
        state.written.remove(row.end_offset, _END)
        state.written_end = row.end_offset
    return ()


def _log_start(state: SharePartition, row: Row) -> Iterable[Note]:
    if row.offset is None or row.offset <= state.log_start:
        return ()
    state.start = row
    for group in state.groups.values():
        late = row.at_ms - _SAME_LOOK_MS
        group.passed = [
            each._replace(first=max(each.first, row.offset)) if each.row.at_ms >= late else each
            for each in group.passed
        ]
    return ()


def _leader(state: SharePartition, row: Row) -> Iterable[Note]:
    state.leader = row
    if row.leader_epoch == 0 and state.created is None:
        state.created = row
    return ()


def _log(state: SharePartition, row: Row) -> Iterator[Note]:
    """A topic of that name may be created anew."""
    if row.detail == "deleted":
        for group in state.groups.values():
            yield from _ended(state, group)
        state.groups.clear()
        state.written, state.written_end, state.start = OffsetRanges(), 0, None


# -- where a group is


def _share_partition(state: SharePartition, row: Row) -> Iterator[Note]:
    group, offset = _of(state, row), row.offset
    if offset is None or offset < 0:
        if (row.broker or 0) >= 0 and group.start is not None:
            # It has no state, and a share coordinator: it begins anew.
            yield from _begin_anew(state, row)
        return
    flight = flights(row.detail)
    yield from _goes_on(state, group)
    if group.altering:
        group.checked = offset
    elif group.checked is None:
        group.checked = offset
        if group.first is not row:
            created = None if state.created is None else state.created.at_ms
            unread = _sum(state.written.within(state.log_start, offset))
            about = {"offset": state.log_start, "end_offset": offset, "from_ms": created}
            yield note("share-began", state.created, group.first, row, **about, number=unread)
    else:
        if group.altered is not None and (group.altered.offset or 0) <= offset < group.checked:
            _unpass(group, offset)
        _pass(state, group, row, offset, flight)
    yield from _back(state, group, row, flight)
    yield from _unlocked(group, row, flight)
    group.start, group.flight = row, flight


def _pass(state: SharePartition, group: ShareGroup, row: Row, offset: int, flight: list[Flight]) -> None:
    """The start offset moves on, or records are archived."""
    assert group.checked is not None
    live = sorted((each for each in group.flight if each.is_live), key=lambda each: -each.deliveries)
    gone = [(each.first, each.end) for each in flight if each.state == "archived"]
    state.has_gaps |= any(each.state == "archived" and not each.deliveries for each in flight)
    if offset > group.checked:
        unread = OffsetRanges(state.written.within(max(group.checked, state.log_start), offset))
        seen = [(each.first, each.end) for each in group.flight if each.deliveries]
        for some in unread.without(group.given, group.said, seen):
            group.passed.append(Passed(group.start, row, *some, 0))
        gone.append((group.checked, offset))
        group.checked = offset
    left = OffsetRanges(gone).without([(0, state.log_start)])
    for each in live:
        for some in list(left.within(each.first, each.end)):
            group.passed.append(Passed(group.start, row, *some, each.deliveries))
            left.remove(*some)


def _unpass(group: ShareGroup, offset: int) -> None:
    """It goes back to where it was told to begin: a leader had not heard of that before."""
    group.checked = offset
    group.passed = [
        each if each.deliveries else each._replace(end=min(each.end, offset)) for each in group.passed
    ]


def _back(state: SharePartition, group: ShareGroup, row: Row, flight: list[Flight]) -> Iterator[Note]:
    """A start offset goes back when what a leader knew was not written, and another one reads it. Behind the
    log start, which the same leader had reached, there is nothing. A lock tells that it is the same."""
    last, start = group.start, state.start
    if last is None or start is None or last.offset is None or start.offset is None or row.offset is None:
        return
    same = {each.lock for each in flight if each.lock} & {each.lock for each in group.flight if each.lock}
    if same and _before(start, last) and row.offset < start.offset <= last.offset:
        yield note("share-start-back", start, last, row, offset=row.offset, end_offset=last.offset)


def _unlocked(group: ShareGroup, row: Row, flight: list[Flight]) -> Iterator[Note]:
    kept = []
    locks = {each.lock: each for each in flight if each.lock}
    for locked in group.locked:
        still = locks.get(locked.flight.lock)
        if still is not None and still.first < locked.flight.end and locked.flight.first < still.end:
            kept.append(locked)
        elif row.at_ms - locked.row.at_ms >= _NOTICED_MS:
            about = {"offset": locked.flight.first, "end_offset": locked.flight.end}
            yield note("share-locked", locked.row, row, client=locked.row.client, **about)
    group.locked = kept


def _share_session(state: SharePartition, row: Row) -> Iterable[Note]:
    group, (member, _, what) = _of(state, row), (row.detail or "").partition(" ")
    if what == NOTHING:
        group.waits = ((group.waits or (row,))[0], row) if _left(state, group) else None
        return ()
    group.locked += [Locked(row, each) for each in group.flight if each.lock[:1] == (member,)]
    return ()


def _share_offset(state: SharePartition, row: Row) -> Iterator[Note]:
    group = _of(state, row)
    group.altering = row.detail == ASKED
    if row.detail == UNANSWERED:
        yield note("share-offset-ignored", row, client=None, offset=row.offset, detail=row.detail)
    elif row.detail == DONE:
        if group.altered is not None and not group.given:
            # It has not begun where it was told before.
            group.passed.clear()
        yield from _begin_anew(state, row)
        group = _of(state, row)
        group.altered, group.checked = row, row.offset


# -- what its members are given, and say


def _acquired(state: SharePartition, row: Row) -> Iterator[Note]:
    group = _of(state, row)
    if row.offset is None or row.end_offset is None:
        return
    yield from _goes_on(state, group)
    asked_ms = _asked_ms(row)
    while group.fresh and group.fresh[0].at_ms < asked_ms:
        each = group.fresh.popleft()
        group.accepted.add(each.offset or 0, each.end_offset or 0)
        group.settled_ms = each.at_ms
    if asked_ms > group.settled_ms and _leads(state, row) and not group.altering:
        twice = list(group.accepted.within(row.offset, row.end_offset))
        for some in twice:
            group.again.add(*some)
            group.accepted.remove(*some)
        if twice:
            group.again_rows = (*group.again_rows[:1], row)
    group.given.add(row.offset, row.end_offset)
    if group.start is not None:
        # The next row of the kind `share-partition` has all that is in flight.
        deliveries = int((row.detail or "").removeprefix("delivery ").partition(",")[0])
        group.flight.append(Flight(row.offset, row.end_offset, "acquired", deliveries))


def _acknowledging(state: SharePartition, row: Row) -> Iterable[Note]:
    if row.detail in _FINAL and row.offset is not None and row.end_offset is not None:
        _of(state, row).said.add(row.offset, row.end_offset)
        state.has_gaps |= row.detail == "gap"
    return ()


def _acknowledged(state: SharePartition, row: Row) -> Iterator[Note]:
    group, said = _of(state, row), (row.detail or "").partition(",")[0]
    if row.offset is None or row.end_offset is None or said not in _FINAL:
        return
    if row.error is not None:
        if row.error in _FOR_CERTAIN:
            group.said.remove(row.offset, row.end_offset)
        return
    if said == "accept":
        group.fresh.append(row)
    altered, start = group.altered, group.start
    if altered is None or group.ignores or start is None or _asked_ms(row) <= altered.at_ms:
        return
    told = altered.offset or 0
    # Below the start offset nothing is written.
    if row.offset < told and (start.offset or 0) < told and _leads(state, row):
        group.ignores = True
        yield note("share-offset-ignored", altered, row, client=None, offset=told, end_offset=row.offset)


def _leads(state: SharePartition, row: Row) -> bool:
    """Whether who answers leads, as far as is known: a leader that is cut off gives what another gives."""
    leader = state.leader
    return leader is None or row.broker is None or leader.leader == row.broker


def _asked_ms(row: Row) -> int:
    """When an answer was asked for."""
    waited = (row.detail or "").partition(" asked ")[2].partition(" ")[0]
    return row.at_ms - int(waited) if waited else row.at_ms


# -- what is known at the end


def _begin_anew(state: SharePartition, row: Row) -> Iterator[Note]:
    assert row.group is not None
    group = _of(state, row)
    yield from _ended(state, group)
    state.groups[row.group] = ShareGroup(group.first)


def _ended(state: SharePartition, group: ShareGroup) -> Iterator[Note]:
    if not state.has_gaps:
        yield from _went_past(group, "share-skipped", lambda deliveries: deliveries == 0)
        yield from _went_past(group, "share-passed", lambda deliveries: deliveries == 1)
    yield from _went_past(group, "share-worn", lambda deliveries: deliveries > 1)
    for first, last in group.again:
        yield note("share-again", *group.again_rows, client=None, offset=first, end_offset=last)


def _went_past(group: ShareGroup, what: str, fits: Callable[[int], bool]) -> Iterator[Note]:
    """What it was not given later, or has not said anything of."""
    done = (group.said, group.given if what == "share-skipped" else group.accepted)
    left, rows, most = OffsetRanges(), list[Row | None](), 0
    for each in group.passed:
        some = OffsetRanges([(each.first, each.end)]).without(*done) if fits(each.deliveries) else ()
        for one in some:
            left.add(*one)
        if some:
            rows += [each.before, each.row]
            most = max(most, each.deliveries)
    shown = [*rows[:2], *rows[-1:]]
    if group.altered is not None and what == "share-skipped":
        shown.insert(0, group.altered)
    if what == "share-worn" and left:
        ends = list(left)
        about = {"offset": ends[0][0], "end_offset": ends[-1][1], "number": left.count, "detail": str(most)}
        yield note(what, *shown, client=None, **about)
        return
    for first, last in left:
        yield note(what, *shown, client=None, offset=first, end_offset=last)


def _goes_on(state: SharePartition, group: ShareGroup) -> Iterator[Note]:
    """Something becomes of it, or the files end: had its members waited?"""
    waits, group.waits = group.waits, None
    left = _left(state, group) if waits is not None else []
    if waits is not None and left and waits[1].at_ms - waits[0].at_ms >= _NOTICED_MS:
        about = {"offset": left[0][0], "end_offset": left[-1][1], "number": _sum(left)}
        yield note("share-stands", group.start, *waits, **about, client=None, from_ms=waits[0].time_ms)


def _left(state: SharePartition, group: ShareGroup) -> list[Range]:
    """Records that are not done, as far as it is known where the group is."""
    if group.checked is None:
        return []
    done = [(each.first, each.end) for each in group.flight if each.state in ("acknowledged", "archived")]
    there = OffsetRanges(state.written.within(max(group.checked, state.log_start), _END))
    return list(there.without(group.said, done))


def _of(state: SharePartition, row: Row) -> ShareGroup:
    assert row.group is not None
    found = state.groups.get(row.group)
    if found is None:
        found = state.groups[row.group] = ShareGroup(row)
    return found


def _before(one: Row, other: Row) -> bool:
    return (one.at_ms, one.file, one.position) < (other.at_ms, other.file, other.position)


def _sum(ranges: Iterable[Range]) -> int:
    return sum(last - first for first, last in ranges)


def _shared_only(rows: Table) -> Table:
    """Only partitions that a share group reads."""
    shared = rows.where(F.col("kind").isin(*_OF_GROUPS)).select("key").distinct()
    return rows.join(shared, "key", "left_semi")


_STEPS: Final = {
    "share-partition": _share_partition,
    "acquired": _acquired,
    "acknowledging": _acknowledging,
    "acknowledged": _acknowledged,
    "share-session": _share_session,
    "share-offset": _share_offset,
    "append": _append,
    "high-watermark": _watermark,
    "log-start": _log_start,
    "leader": _leader,
    "log": _log,
}
LEDGER: Final = Ledger(
    "share groups and partitions",
    tuple(_STEPS),
    F.col("topic").isNotNull()
    & F.col("partition").isNotNull()
    & F.col("time_ms").isNotNull()
    & (~F.col("kind").isin(*_OF_GROUPS) | F.col("group").isNotNull()),
    F.concat_ws("\n", "topic", "partition"),
    (
        *("broker", "group", "client", "topic", "partition", "offset", "end_offset", "leader_epoch"),
        *("leader", "transactional_id", "error", "detail"),
    ),
    SharePartition,
    step,
    end,
    fewer=_shared_only,
    needs=_OF_GROUPS,
)
