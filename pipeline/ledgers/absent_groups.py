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
class Topic:
    """How many commits there are of it while the group has members, and the time of the first."""

    commits: int = 0
    since_ms: int | None = None


@dataclass(slots=True)
class Commits:
    """Those of a partition in one log: `last` is the last one, `committed` is, too, until it is deleted.
    `number` is how many the topic had then, `absence` how often the members had left; `lower` has the highest
    one and the last one, which is below it."""

    topic: Topic
    last: Row
    committed: Row | None = None
    number: int = 0
    absence: int = 0
    lower: tuple[Row, Row] | None = None


@dataclass(slots=True)
class Log:
    """What one log tells: `home` has the commits of all replicas of it, `members` are of the newer types, and
    it tells whether the group `is_empty`, and the last time that it was `assigned` partitions. `since` has
    the commits since the members left, with the one before. `left` is when the last of them went, `absences`
    counts that. `returns` has the longest way that the group went while it was away: the commit before, when
    it left, and the first one after."""

    home: dict[_Place, list[Commits]]
    members: set[str] = field(default_factory=set)
    is_empty: bool = False
    commits: dict[_Place, Commits] = field(default_factory=dict)
    topics: dict[str | None, Topic] = field(default_factory=dict)
    since: dict[_Place, list[Row]] = field(default_factory=dict)
    assigned: Row | None = None
    left: Row | None = None
    absences: int = 0
    returns: dict[_Place, tuple[Row, Row, Row]] = field(default_factory=dict)


@dataclass(slots=True)
class Absence:
    """A group, by each log that tells of it: replicas tell the same. `homes` has its commits by the partition
    of the offsets topic that they are in; `of_file` has the log of each file."""

    logs: dict[str, Log] = field(default_factory=dict)
    homes: dict[str, dict[_Place, list[Commits]]] = field(default_factory=dict)
    of_file: dict[str, Log] = field(default_factory=dict)

    def log(self, row: Row) -> Log:
        name = voice(row)
        if name not in self.logs:
            home = _HOME.search(name)
            self.logs[name] = Log({} if home is None else self.homes.setdefault(home[1], {}))
        log = self.of_file[row.file] = self.logs[name]
        return log


def step(state: Absence, row: Row) -> Iterable[Note]:
    log = state.of_file.get(row.file) or state.log(row)
    if row.topic is None:
        return _group(log, row)
    place = row.topic, row.partition
    commits = log.commits.get(place)
    if row.kind == "tombstone":
        if commits is not None:
            commits.committed = None
        log.since.pop(place, None)
        return ()
    if row.detail == IN_TRANSACTION:
        return ()
    found: Sequence[Note] = ()
    if commits is None:
        topic = log.topics.setdefault(row.topic, Topic())
        commits = log.commits[place] = Commits(topic, row)
        if place not in log.home:
            found = _moved(state, log, place, row)
        log.home.setdefault(place, []).append(commits)
    commits.last = row
    if row.offset is None:
        return found
    if log.is_empty:
        if commits.committed is not None:
            log.since.setdefault(place, [commits.committed]).append(row)
        return found
    topic, before = commits.topic, commits.committed
    if before is None:
        if topic.since_ms is None:
            topic.since_ms = row.at_ms
        if topic.since_ms < row.at_ms and log.assigned is not None:
            about = {"offset": row.offset, "number": topic.since_ms}
            found = [*found, note("partition-found", log.assigned, row, **about)]
    else:
        if commits.absence < log.absences:
            _returned(log, place, before, row)
            found = [*found, *_behind(commits, before, row)]
        if commits.lower is not None or row.offset < (before.offset or 0):
            _keep_lower(commits, before, row)
    commits.absence = log.absences
    topic.commits += 1
    commits.number = topic.commits
    commits.committed = row
    return found


def _moved(state: Absence, log: Log, place: _Place, row: Row) -> Sequence[Note]:
    """Which of them a group's offsets are in follows from its id and from how many there are: once it has
    another one, its coordinator does not know of what it had committed there."""
    homes = (home for home in state.homes.values() if home is not log.home)
    others = (each.last for home in homes for each in home.get(place, ()))
    before = max(others, key=lambda each: (each.at_ms, each.file, each.position), default=None)
    if before is None or before.at_ms > row.at_ms:
        return ()
    return [note("commit-missing", before, row, offset=before.offset)]


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
        last = (before, *after)[-1]
        log.commits[place].committed = last
        if len(after) == 1 and (before.offset or 0) < (last.offset or 0):
            yield note("records-skipped", before, last, offset=before.offset, end_offset=last.offset)


def _returned(log: Log, place: _Place, before: Row, row: Row) -> None:
    kept = log.returns.get(place)
    far = (row.offset or 0) - (before.offset or 0)
    if log.left is not None and (kept is None or far > (kept[2].offset or 0) - (kept[0].offset or 0)):
        log.returns[place] = before, log.left, row


def _behind(commits: Commits, before: Row, row: Row) -> Sequence[Note]:
    """A commit that was overtaken by a higher one does no harm, unless a group goes on from it."""
    high, low = commits.lower or (None, None)
    commits.lower = None
    if high is None or low is None or before is not low:
        return ()
    return [note("commit-back", high, low, row, offset=low.offset, end_offset=high.offset)]


def _keep_lower(commits: Commits, before: Row, row: Row) -> None:
    high = before if commits.lower is None else commits.lower[0]
    commits.lower = (high, row) if (row.offset or 0) < (high.offset or 0) else None


def end(state: Absence) -> Iterator[Note]:
    for log in state.logs.values():
        for before, left, after in log.returns.values():
            about = {"from_ms": left.time_ms, "offset": before.offset, "end_offset": after.offset}
            yield note("came-back", before, after, **about)
        committed = [(each, row) for each in log.commits.values() if (row := each.committed) is not None]
        last: dict[str | None, Row] = {}
        for _, row in committed:
            last[row.topic] = max(row, last.get(row.topic, row), key=lambda each: each.at_ms)
        for each, row in committed:
            others, until = each.topic.commits - each.number, last[row.topic]
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
