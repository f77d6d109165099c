"""What only the notes of two ledgers tell together: what a group did, and what was in the log then."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from ..ledgers import Note
from .kind import MINUTE_MS, TEN_MINUTES_MS, THROTTLED, UNREAD, at, took_ms

_ABOUT_MS: Final = 1_000
_NAMED: Final = 5
"""The partitions that are named of many."""
_LEFT: Final = ("partition-left", "unread")
_FOUND: Final = ("partition-found", "begun-late")
_SKIPPED: Final = "records-skipped"


def combined(notes: Iterable[Note]) -> Iterator[Note]:
    """A partition in which a group reads no more, although it goes on in others; one that it found late; one
    whose log began later when it came back; one in which it falls behind while its client is throttled; and
    partitions whose replicas on a broker are not in sync."""
    notes = list(notes)
    yield from _begun_later(notes)
    yield from _throttled(notes)
    yield from _out_of_sync(notes)
    yield from _shared_late(notes)
    by: dict[tuple[Any, ...], Note] = {}
    for each in notes:
        if each.what in (*_LEFT, *_FOUND):
            by.setdefault((each.what, each.group, each.topic, each.partition), each)
    for (what, *place), group in by.items():
        log = by.get((_LEFT[1] if what == _LEFT[0] else _FOUND[1], *place))
        if log is None or None in (group.to_ms, log.from_ms, log.to_ms):
            continue
        rows = tuple(dict.fromkeys((*group.rows, *log.rows)))
        if what == _LEFT[0] and group.offset == log.offset:
            stands = group._replace(what="stands-still", rows=rows, from_ms=log.to_ms)
            yield stands._replace(end_offset=log.end_offset, detail=UNREAD)
        elif what == _FOUND[0] and _began_after(group, log):
            yield log._replace(what=_SKIPPED, number=None, rows=rows)


def _begun_later(notes: Sequence[Note]) -> Iterator[Note]:
    """What was deleted while a group had no members, from its last commit on. Not if a client that does not
    name its group says so itself."""
    starts = {(each.topic, each.partition): each for each in notes if each.what == "log-start"}
    told = {
        (each.topic, each.partition, each.offset)
        for each in notes
        if each.what == _SKIPPED and each.group is None
    }
    for each in notes:
        start = starts.get((each.topic, each.partition))
        if each.what != "came-back" or start is None or (each.topic, each.partition, each.offset) in told:
            continue
        if None in (start.offset, start.from_ms, each.offset, each.end_offset, each.from_ms, each.to_ms):
            continue
        while_away = (each.from_ms or 0) <= (start.from_ms or 0) <= (each.to_ms or 0)
        if while_away and (each.offset or 0) < (start.offset or 0) <= (each.end_offset or 0):
            rows = tuple(dict.fromkeys((*each.rows, *start.rows)))
            yield each._replace(what=_SKIPPED, end_offset=start.offset, rows=rows)


def _out_of_sync(notes: Sequence[Note]) -> Iterator[Note]:
    """What began within a minute for the replicas of one broker is one, however many there are. A broker that
    is away is noticed after ten minutes: a restart may take some."""
    some = sorted((each for each in notes if each.what == "out-of-sync"), key=_of_broker)
    at_once: list[Note] = []
    for each in some:
        least = MINUTE_MS if each.number else TEN_MINUTES_MS
        if took_ms(each) < least:
            continue
        if at_once and not _with_it(at_once[0], each):
            yield _behind(at_once)
            at_once = []
        at_once.append(each)
    if at_once:
        yield _behind(at_once)


def _of_broker(note: Note) -> tuple[Any, ...]:
    return note.broker or 0, note.number or 0, note.from_ms or 0, note.topic or "", note.partition or 0


def _with_it(first: Note, note: Note) -> bool:
    near = (note.from_ms or 0) - (first.from_ms or 0) <= MINUTE_MS
    return near and (note.broker, note.number) == (first.broker, first.number)


def _behind(notes: Sequence[Note]) -> Note:
    """Its `detail` says which they are, and whether the broker was away."""
    first, places = notes[0], list(dict.fromkeys(map(at, notes)))
    more = f" and {len(places) - _NAMED} more partitions" if len(places) > _NAMED else ""
    still = "; some still are not at the end" if any(each.detail is not None for each in notes) else ""
    why = "although nothing tells that it was away" if first.number else "which was away"
    rows = tuple(dict.fromkeys(row for each in notes for row in each.rows))
    one = len(places) == 1
    return first._replace(
        what="under-replicated",
        rows=rows,
        topic=first.topic if one else None,
        partition=first.partition if one else None,
        to_ms=max(each.to_ms or 0 for each in notes),
        number=len(places),
        detail=f"{', '.join(places[:_NAMED])}{more} were not in sync on broker {first.broker}, {why}{still}",
    )


def _throttled(notes: Sequence[Note]) -> Iterator[Note]:
    """A lag that grows, before it is noticed by itself."""
    waited = {each.group: each for each in notes if each.what == "throttled"}
    for each in notes:
        waits = waited.get(each.group) if each.what == "lag-grows" else None
        if waits is None or took_ms(each) >= TEN_MINUTES_MS:
            continue
        if (each.from_ms or 0) <= (waits.to_ms or 0) and (waits.from_ms or 0) <= (each.to_ms or 0):
            yield each._replace(rows=(*each.rows, *waits.rows), detail=THROTTLED)


def _shared_late(notes: Sequence[Note]) -> Iterator[Note]:
    """A share group began in the middle of a partition that its topic was given later. `number` are the
    records before, and `from_ms` is when the partition was created."""
    began = [each for each in notes if each.what == "share-began"]
    since: dict[tuple[Any, ...], int] = {}
    for each in began:
        key = each.group, each.topic
        since[key] = min(since.get(key, each.to_ms or 0), each.to_ms or 0)
    for each in began:
        if each.from_ms is not None and each.from_ms > since[each.group, each.topic] and each.number:
            yield each._replace(what="share-skipped")


def _began_after(group: Note, log: Note) -> bool:
    """Whether the group read the topic before there was the partition, and left out all that was in its log
    when it was given it: for a minute it committed nothing of it. `number` is when that began: the group with
    the topic, and the log."""
    if group.number is None or log.number is None or group.number >= log.number:
        return False
    assigned, written = group.from_ms or 0, log.from_ms or 0
    return (group.to_ms or 0) - assigned >= MINUTE_MS and written <= assigned + _ABOUT_MS
