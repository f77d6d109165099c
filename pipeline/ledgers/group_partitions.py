"""What a group, or a client without one, has of a partition: commits, and the positions of its clients."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..rows import log
from ..tables import Table, Window
from ..tables import functions as F
from .ledger import Ledger, refused_only
from .row import Note, Row, goes_on, note, voice

_CLOCKS_MS: Final = 60_000
"""The greatest difference between the clocks of different machines."""
_RECENT: Final = 1_000
"""The commits that are kept in mind for that."""
_OVERTAKEN_MS: Final = 10_000
"""Requests on a connection keep their order: a commit that is overtaken, on another one, comes soon after."""
_ONE_LOG: Final = Window.partitionBy("key", log())
_OUT_OF_RANGE: Final = "OFFSET_OUT_OF_RANGE"


@dataclass(slots=True)
class GroupPartition:
    """`committed` is the last commit, `recent` has those before it, and `by_voice` has that of each voice.
    `back` has, by voice, the highest commit and a later, lower one, as long as that may have been overtaken.

    `positions` are those of clients; `moved` is the last row by which one of them went elsewhere than to the
    next record, `gone` the commit that a client was told is not there. `refused` has, by client, a position
    that is out of range, until it has another one. `highest` is the highest commit, `again` what was given to
    clients below it: the first row, the commit, and the end.
    """

    committed: Row | None = None
    recent: deque[Row] = field(default_factory=lambda: deque(maxlen=_RECENT))
    by_voice: dict[str, Row] = field(default_factory=dict)
    back: dict[str, tuple[Row, Row]] = field(default_factory=dict)
    positions: dict[str | None, int] = field(default_factory=dict)
    moved: Row | None = None
    deleted: Row | None = None
    gone: Row | None = None
    restored: tuple[int, int] | None = None
    refused: dict[str | None, Row] = field(default_factory=dict)
    highest: Row | None = None
    again: tuple[Row, Row, int] | None = None


def step(state: GroupPartition, row: Row) -> Iterable[Note]:
    return _STEPS[row.kind](state, row)


def end(state: GroupPartition) -> Iterator[Note]:
    for row in state.refused.values():
        yield note("out-of-range", row, offset=row.offset)
    yield from _given_again(state)


def _commit(state: GroupPartition, row: Row) -> Iterator[Note]:
    # An offset in a transaction counts once its marker is written, which is in another log.
    if row.offset is None or row.offset < 0 or row.detail == "in a transaction":
        return
    who = voice(row)
    last = state.by_voice.get(who)
    if last is not None and not goes_on(last, row):
        return
    state.by_voice[who] = state.committed = row
    state.recent.append(row)
    state.deleted = state.gone = None
    if state.highest is None or (state.highest.offset or 0) <= row.offset:
        state.highest = row
    if (back := state.back.get(who)) is not None:
        high, low = back
        assert high.offset is not None
        if row.offset >= high.offset:
            # The lower one had been sent earlier, and came later: nothing was read again.
            del state.back[who]
            return
        assert low.offset is not None
        if row.at_ms - high.at_ms > _OVERTAKEN_MS:
            del state.back[who]
            yield _went_back(high, low, row)
        elif row.offset < low.offset:
            state.back[who] = high, row
    elif last is None or last.offset is None or row.offset >= last.offset or _moved_there(state, last, row):
        return
    elif row.at_ms - last.at_ms > _OVERTAKEN_MS:
        yield _went_back(last, row)
    else:
        state.back[who] = last, row


def _moved_there(state: GroupPartition, last: Row, row: Row) -> bool:
    """Whether a client had gone to where it commits: its user sought, or it was set back before."""
    moved = state.moved
    if moved is None or moved.offset is None or row.offset is None:
        return False
    return moved.at_ms >= last.at_ms - _CLOCKS_MS and moved.offset <= row.offset


def _went_back(high: Row, low: Row, *more: Row) -> Note:
    found = note("commit-back", high, low, *more, offset=low.offset, end_offset=high.offset)
    return found._replace(client=low.client, to_ms=low.time_ms)


def _tombstone(state: GroupPartition, row: Row) -> Iterable[Note]:
    """What is committed after that is not compared with what was committed before."""
    state.deleted, state.highest = row, None
    state.recent.clear()
    state.by_voice.pop(voice(row), None)
    state.back.pop(voice(row), None)
    return ()


def _position(state: GroupPartition, row: Row) -> Iterable[Note]:
    if row.offset is not None:
        if row.detail == "seek" or row.offset < state.positions.get(row.client, 0):
            state.moved = row
        state.positions[row.client] = row.offset
        state.refused.pop(row.client, None)
    return ()


def _restore(state: GroupPartition, row: Row) -> Iterator[Note]:
    committed, offset = state.committed, row.offset
    if offset is None:
        return
    state.refused.pop(row.client, None)
    if offset < 0:
        before = state.deleted is not None or (committed is not None and _before(committed, row))
        if committed is not None and state.gone is None and before:
            state.gone = committed
            yield note("commit-missing", committed, state.deleted, row, offset=committed.offset)
        return
    state.positions[row.client] = offset
    for who, (high, low) in list(state.back.items()):
        if offset == low.offset:
            del state.back[who]
            yield _went_back(high, low, row)
    if committed is None or committed.offset is None or offset >= committed.offset:
        return
    state.moved = row
    known = next((each for each in reversed(state.recent) if _before(each, row)), None)
    if known is None or known.offset is None or offset >= known.offset:
        return
    if state.restored != (offset, known.offset):
        state.restored = offset, known.offset
        yield note("position-back", known, row, offset=offset, end_offset=known.offset)


def _before(committed: Row, row: Row) -> bool:
    if voice(committed) == voice(row) or "trace" == committed.source == row.source:
        return True
    return row.at_ms - committed.at_ms > _CLOCKS_MS


def _refused(state: GroupPartition, row: Row) -> Iterable[Note]:
    if row.error == _OUT_OF_RANGE:
        state.refused[row.client] = row
        if row.offset is not None:
            state.positions[row.client] = row.offset
    return ()


def _reset(state: GroupPartition, row: Row) -> Iterator[Note]:
    refused, gone = state.refused.pop(row.client, None), state.gone
    if gone is None and state.deleted is not None:
        # Not every client says that it found no committed offset.
        gone = state.committed
    state.gone = None
    before = row.from_offset
    if before is None and refused is not None:
        before = refused.offset
    if before is None and gone is not None:
        before = gone.offset
    if before is None and refused is not None and state.committed is not None:
        before = state.committed.offset  # KafkaJS does not say where it was
    if row.offset is not None:
        state.positions[row.client] = row.offset
    if before is None or before < 0:
        return
    state.moved = row
    if row.offset is None:
        yield note("reset", gone, refused, row, offset=before, detail=row.detail)
    elif row.offset > before:
        yield note("records-skipped", gone, refused, row, offset=before, end_offset=row.offset)
    elif row.offset < before:
        yield note("position-back", gone, refused, row, offset=row.offset, end_offset=before)


def _fetched(state: GroupPartition, row: Row) -> Iterator[Note]:
    """Only what was committed counts: after a rebalance all else is read again by another member."""
    high, again, offset = state.highest, state.again, row.offset
    if offset is None or row.end_offset is None:
        return
    if again is not None:
        first, high, end = again
        assert high.offset is not None
        if offset < high.offset:
            state.again = first, high, min(max(end, row.end_offset), high.offset)
        else:
            yield from _given_again(state)
    elif (
        high is not None and high.offset is not None and row.end_offset <= high.offset and _before(high, row)
    ):
        # A batch is given whole, with the records before the one that was asked for.
        state.again = row, high, row.end_offset


def _given_again(state: GroupPartition) -> Iterator[Note]:
    if state.again is not None:
        first, high, end = state.again
        state.again = None
        yield note("given-again", high, first, offset=first.offset, end_offset=end, client=None)


def _fewer(rows: Table) -> Table:
    """Of most groups there are only commits, each higher than those before it in its log."""
    ends = _ONE_LOG.orderBy("time_ms", "file", "position", "offset").rows(
        "UNBOUNDED PRECEDING AND 1 PRECEDING"
    )
    commits = rows.where("kind = 'commit'")
    back = commits.withColumn("_highest", F.max("offset").over(ends)).where("offset < _highest")
    told = rows.where("kind != 'commit'").select("key").unionByName(back.select("key")).distinct()
    return rows.join(told, "key", "left_semi")


_STEPS: Final = {
    "commit": _commit,
    "tombstone": _tombstone,
    "position": _position,
    "restore": _restore,
    "refused": _refused,
    "reset": _reset,
    "fetched": _fetched,
}
LEDGER: Final = Ledger(
    "groups and partitions",
    tuple(_STEPS),
    F.col("topic").isNotNull()
    & F.col("partition").isNotNull()
    & F.coalesce(F.col("group"), F.col("client")).isNotNull()
    & refused_only(F.col("error") == _OUT_OF_RANGE)
    & ~F.coalesce(F.col("detail").startswith("follower"), F.lit(False)),
    F.concat_ws("\n", F.coalesce("group", "client"), "topic", "partition"),
    ("client", "group", "topic", "partition", "offset", "from_offset", "end_offset", "error", "detail"),
    GroupPartition,
    step,
    end,
    fewer=_fewer,
)
