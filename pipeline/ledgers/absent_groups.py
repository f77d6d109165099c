"""What the offsets topic tells of a group and its members: offsets that are set while it has none, where it
goes on when it has some again, partitions that it finds late, and partitions that it leaves. A group that is
told of in another partition of the offsets topic than before has lost what it had committed there.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from ..offsets_log import NO_MEMBERS, SOURCES
from ..tables import functions as F
from .ledger import Ledger
from .row import Note, Row, note, voice

_HAS_MEMBERS: Final = "Stable"
_MEMBERS: Final = ("consumer member ", "streams member ")
_LEFT_MS: Final = 60_000
_HOME: Final = re.compile(r"(?:^|/)__consumer_offsets-(\d+)$")
_Place = tuple[str | None, int | None]


@dataclass(slots=True)
class Log:
    """What one log tells: `members` of the newer types, whether the group `is_empty`, and the last time that
    it was `assigned` partitions. `committed` is the last commit of each partition, `since` are those since
    the members left. `counts` has by topic the number of commits, `own` by partition what it was then, and
    `began` by topic the time of the first commit. `left` is when the last of the members went; `absences`
    counts that, `present` has what it was at the last commit of a partition. `returns` has the longest way
    that the group went while it was away: the commit before, when it left, and the first one after. `lower`
    has the highest commit of a partition and the last one, which is below it."""

    members: set[str] = field(default_factory=set)
    is_empty: bool = False
    committed: dict[_Place, Row] = field(default_factory=dict)
    since: dict[_Place, list[Row]] = field(default_factory=dict)
    assigned: Row | None = None
    counts: dict[str | None, int] = field(default_factory=dict)
    own: dict[_Place, int] = field(default_factory=dict)
    began: dict[str | None, int] = field(default_factory=dict)
    left: Row | None = None
    absences: int = 0
    present: dict[_Place, int] = field(default_factory=dict)
    returns: dict[_Place, tuple[Row, Row, Row]] = field(default_factory=dict)
    lower: dict[_Place, tuple[Row, Row]] = field(default_factory=dict)


@dataclass(slots=True)
class Absence:
    """A group, by each log that tells of it: replicas tell the same. `homes` has its last commits by the
    partition of the offsets topic that they are in."""

    logs: dict[str, Log] = field(default_factory=dict)
    homes: dict[str, dict[_Place, Row]] = field(default_factory=dict)


def step(state: Absence, row: Row) -> Iterator[Note]:
    log = state.logs.setdefault(voice(row), Log())
    if row.topic is None:
        yield from _group(log, row)
        return
    yield from _moved(state, row)
    yield from _commit(log, row)


def _moved(state: Absence, row: Row) -> Iterator[Note]:
    """Which of them a group's offsets are in follows from its id and from how many there are: once it has
    another one, its coordinator does not know of what it had committed."""
    home = _HOME.search(voice(row))
    if home is None or row.kind != "commit" or row.detail == "in a transaction":
        return
    place = row.topic, row.partition
    own = state.homes.setdefault(home[1], {})
    if place not in own:
        others = (each[place] for name, each in state.homes.items() if name != home[1] and place in each)
        before = max(others, key=lambda each: each.at_ms, default=None)
        if before is not None and before.at_ms <= row.at_ms:
            yield note("commit-missing", before, row, offset=before.offset)
    own[place] = row


def _group(log: Log, row: Row) -> Iterator[Note]:
    detail = row.detail or ""
    if detail.startswith(_MEMBERS):
        (log.members.discard if row.kind == "tombstone" else log.members.add)(detail)
        empty = not log.members
    elif row.kind == "group" and detail in (_HAS_MEMBERS, NO_MEMBERS):
        empty = detail == NO_MEMBERS
    else:
        return
    if log.is_empty and not empty:
        yield from _set_on(log)
        log.since.clear()
    if empty and not log.is_empty:
        log.left, log.absences = row, log.absences + 1
    log.is_empty = empty
    if not empty:
        log.assigned = row


def _set_on(log: Log) -> Iterator[Note]:
    """An operator commits once; a consumer that is no member does so again and again."""
    for place, (before, *after) in log.since.items():
        log.committed[place] = (before, *after)[-1]
        if len(after) == 1 and (before.offset or 0) < (after[0].offset or 0):
            (row,) = after
            yield note("records-skipped", before, row, offset=before.offset, end_offset=row.offset)


def _commit(log: Log, row: Row) -> Iterator[Note]:
    place = row.topic, row.partition
    if row.kind == "tombstone":
        log.committed.pop(place, None)
        log.since.pop(place, None)
    elif row.detail != "in a transaction" and row.offset is not None:
        before = log.committed.get(place)
        if not log.is_empty:
            others = log.counts.get(row.topic, 0)
            since_ms = log.began.setdefault(row.topic, row.at_ms)
            if before is None and since_ms < row.at_ms and log.assigned is not None:
                yield note("partition-found", log.assigned, row, offset=row.offset, number=since_ms)
            elif before is not None and log.present.get(place, log.absences) < log.absences:
                _returned(log, place, before, row)
                yield from _behind(log, place, row)
            _keep_lower(log, place, row)
            log.present[place] = log.absences
            log.counts[row.topic] = log.own[place] = others + 1
            log.committed[place] = row
        elif before is not None:
            log.since.setdefault(place, [before]).append(row)


def _returned(log: Log, place: _Place, before: Row, row: Row) -> None:
    kept = log.returns.get(place)
    far = (row.offset or 0) - (before.offset or 0)
    if log.left is not None and (kept is None or far > (kept[2].offset or 0) - (kept[0].offset or 0)):
        log.returns[place] = before, log.left, row


def _behind(log: Log, place: _Place, row: Row) -> Iterator[Note]:
    """A commit that was overtaken by a higher one does no harm, unless a group goes on from it."""
    high, low = log.lower.pop(place, (None, None))
    if high is not None and low is not None and log.committed[place] is low:
        yield note("commit-back", high, low, row, offset=low.offset, end_offset=high.offset)


def _keep_lower(log: Log, place: _Place, row: Row) -> None:
    before = log.committed.get(place)
    high = log.lower[place][0] if place in log.lower else before
    if high is not None and (row.offset or 0) < (high.offset or 0):
        log.lower[place] = high, row
    else:
        log.lower.pop(place, None)


def end(state: Absence) -> Iterator[Note]:
    for log in state.logs.values():
        for before, left, row in log.returns.values():
            about = {"from_ms": left.time_ms, "offset": before.offset, "end_offset": row.offset}
            yield note("came-back", before, row, **about)
        last: dict[str | None, Row] = {}
        for (topic, _), row in log.committed.items():
            last[topic] = max(row, last.get(topic, row), key=lambda each: each.at_ms)
        for place, row in log.committed.items():
            others = log.counts.get(row.topic, 0) - log.own.get(place, 0)
            until = last[row.topic]
            if others and until.at_ms - row.at_ms >= _LEFT_MS:
                about = {"partition": row.partition, "offset": row.offset, "number": others}
                yield note("partition-left", row, until, **about)


LEDGER: Final = Ledger(
    "groups without members",
    ("commit", "tombstone", "group"),
    F.col("group").isNotNull() & F.col("source").isin(*SOURCES),
    F.col("group"),
    ("group", "topic", "partition", "offset", "detail"),
    Absence,
    step,
    end,
)
