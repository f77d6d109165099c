"""What the offsets topic tells of a group and its members: offsets that are set while it has none, where it
goes on when it has some again, partitions that it finds late, and partitions that it leaves. A group that is
told of in another partition of the offsets topic than before has lost what it had committed there.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..offsets_log import NO_MEMBERS, SOURCES
from ..readers.internal_topics import IN_TRANSACTION
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
    """What one log tells: `home` has the last commits of all replicas of it, `members` are of the newer
    types, and it tells whether the group `is_empty`, and the last time that it was `assigned` partitions.
    `committed` is the last commit of each partition, `since` are those since the members left. `counts` has
    by topic the number of commits, `own` by partition what it was then, and `began` by topic the time of the
    first commit. `left` is when the last of the members went; `absences` counts that, `present` has what it
    was at the last commit of a partition. `returns` has the longest way that the group went while it was
    away: the commit before, when it left, and the first one after. `lower` has the highest commit of a
    partition and the last one, which is below it."""

    home: dict[_Place, Row] | None = None
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

    def log(self, name: str) -> Log:
        home = _HOME.search(name)
        made = Log(None if home is None else self.homes.setdefault(home[1], {}))
        return self.logs.setdefault(name, made)


def step(state: Absence, row: Row) -> Iterable[Note]:
    name = voice(row)
    log = state.logs.get(name) or state.log(name)
    if row.topic is None:
        return _group(log, row)
    place = row.topic, row.partition
    if row.kind == "tombstone":
        log.committed.pop(place, None)
        log.since.pop(place, None)
        return ()
    if row.detail == IN_TRANSACTION:
        return ()
    found: list[Note] = []
    home = log.home
    if home is not None:
        if place not in home:
            found += _moved(state, home, place, row)
        home[place] = row
    if row.offset is not None:
        found += _commit(log, place, row)
    return found


def _moved(state: Absence, home: dict[_Place, Row], place: _Place, row: Row) -> Iterator[Note]:
    """Which of them a group's offsets are in follows from its id and from how many there are: once it has
    another one, its coordinator does not know of what it had committed there."""
    others = (each[place] for each in state.homes.values() if each is not home and place in each)
    before = max(others, key=lambda each: each.at_ms, default=None)
    if before is not None and before.at_ms <= row.at_ms:
        yield note("commit-missing", before, row, offset=before.offset)


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


def _commit(log: Log, place: _Place, row: Row) -> Iterable[Note]:
    before = log.committed.get(place)
    if log.is_empty:
        if before is not None:
            log.since.setdefault(place, [before]).append(row)
        return ()
    found: Iterable[Note] = ()
    others = log.counts.get(row.topic, 0)
    since_ms = log.began.setdefault(row.topic, row.at_ms)
    if before is None:
        if since_ms < row.at_ms and log.assigned is not None:
            found = [note("partition-found", log.assigned, row, offset=row.offset, number=since_ms)]
    else:
        if log.present[place] < log.absences:
            _returned(log, place, before, row)
            found = _behind(log, place, before, row)
        _keep_lower(log, place, before, row)
    log.present[place] = log.absences
    log.counts[row.topic] = log.own[place] = others + 1
    log.committed[place] = row
    return found


def _returned(log: Log, place: _Place, before: Row, row: Row) -> None:
    kept = log.returns.get(place)
    far = (row.offset or 0) - (before.offset or 0)
    if log.left is not None and (kept is None or far > (kept[2].offset or 0) - (kept[0].offset or 0)):
        log.returns[place] = before, log.left, row


def _behind(log: Log, place: _Place, before: Row, row: Row) -> Sequence[Note]:
    """A commit that was overtaken by a higher one does no harm, unless a group goes on from it."""
    high, low = log.lower.pop(place, (None, None))
    if high is None or low is None or before is not low:
        return ()
    return [note("commit-back", high, low, row, offset=low.offset, end_offset=high.offset)]


def _keep_lower(log: Log, place: _Place, before: Row, row: Row) -> None:
    kept = log.lower.get(place)
    high = before if kept is None else kept[0]
    if (row.offset or 0) < (high.offset or 0):
        log.lower[place] = high, row
    elif kept is not None:
        del log.lower[place]


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
