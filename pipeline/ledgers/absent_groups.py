"""What is committed for a group while it has no members, as the records of the offsets topic tell."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from ..offsets_log import NO_MEMBERS, SOURCES
from ..tables import functions as F
from .ledger import Ledger
from .row import Note, Row, note, voice

_HAS_MEMBERS: Final = "Stable"
_MEMBERS: Final = ("consumer member ", "streams member ")
_Place = tuple[str | None, int | None]


@dataclass(slots=True)
class Log:
    """What one log tells: `members` of the newer types, whether the group `is_empty`, and whether it had
    members at all. `committed` is the last commit of each partition, `since` are those since the members
    left."""

    members: set[str] = field(default_factory=set)
    is_empty: bool = False
    committed: dict[_Place, Row] = field(default_factory=dict)
    since: dict[_Place, list[Row]] = field(default_factory=dict)


@dataclass(slots=True)
class Absence:
    """A group, by each log that tells of it: replicas tell the same."""

    logs: dict[str, Log] = field(default_factory=dict)


def step(state: Absence, row: Row) -> Iterable[Note]:
    log = state.logs.setdefault(voice(row), Log())
    return _commit(log, row) if row.topic is not None else _group(log, row)


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
    log.is_empty = empty


def _set_on(log: Log) -> Iterator[Note]:
    """An operator commits once; a consumer that is no member does so again and again."""
    for place, (before, *after) in log.since.items():
        log.committed[place] = (before, *after)[-1]
        if len(after) == 1 and (before.offset or 0) < (after[0].offset or 0):
            (row,) = after
            yield note("records-skipped", before, row, offset=before.offset, end_offset=row.offset)


def _commit(log: Log, row: Row) -> Iterable[Note]:
    place = row.topic, row.partition
    if row.kind == "tombstone":
        log.committed.pop(place, None)
        log.since.pop(place, None)
    elif row.detail != "in a transaction" and row.offset is not None:
        if not log.is_empty:
            log.committed[place] = row
        elif (before := log.committed.get(place)) is not None:
            log.since.setdefault(place, [before]).append(row)
    return ()


LEDGER: Final = Ledger(
    "groups without members",
    ("commit", "tombstone", "group"),
    F.col("group").isNotNull() & F.col("source").isin(*SOURCES),
    F.col("group"),
    ("group", "topic", "partition", "offset", "detail", "leader_epoch"),
    Absence,
    step,
    lambda _: (),
)
