"""Makes symptoms of what ledgers noted."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from ..ledgers import SUBJECT, Note
from .combining import combined
from .kind import LASTING, STILL, Kind
from .kinds import KINDS
from .model import Symptom

_ROWS: Final = 30
"""The most rows that show a symptom, those that replicas tell alike counted each."""
_AGAIN: Final = 5
"""The most symptoms of one kind that are told of one thing."""
_SOON_MS: Final = 60_000


def symptoms(notes: Iterable[Note], until_ms: int | None = None) -> list[Symptom]:
    """What somebody would notice, each thing once, in whatever order the notes come; in order of time.

    `until_ms` is when the files end: what has not ended goes on until then.
    """
    ended = [_until(each, until_ms) for each in notes]
    starts = {(each.topic, each.partition): each for each in ended if each.what == "log-start"}
    gone: dict[str | None, list[int]] = {}
    for each in ended:
        if each.what == "group-gone":
            gone.setdefault(each.group, []).append(each.to_ms or 0)
    known = [_resolved(each, starts) for each in ended if not _deleted(each, gone)]
    known += combined(ended)
    found: list[Symptom] = []
    for kind in KINDS:
        some = sorted((each for each in known if each.what == kind.of and kind.noticed(each)), key=_order)
        found += _largest([_symptom(kind, each) for each in _once(some)])
    found = _without_consequences(found)
    return sorted(found, key=lambda each: (each.to_ms or 0, each.name, each.told))


def _until(note: Note, until_ms: int | None) -> Note:
    if note.what in LASTING and note.to_ms is None:
        return note._replace(to_ms=until_ms, detail=STILL)
    return note


def _resolved(note: Note, starts: dict[Any, Note]) -> Note:
    """A reset to the earliest offset, if where the log began then is known."""
    if note.what != "reset" or note.detail != "earliest" or note.offset is None:
        return note
    start = starts.get((note.topic, note.partition))
    if start is None or start.offset is None or (start.from_ms or 0) > (note.to_ms or 0) + _SOON_MS:
        return note
    if start.offset <= note.offset:
        return note
    return note._replace(
        what="records-skipped", end_offset=start.offset, detail=None, rows=(*note.rows, *start.rows)
    )


def _deleted(note: Note, gone: Mapping[str | None, Sequence[int]]) -> bool:
    """Whether an offset is missing because somebody deleted the group."""
    if note.what != "commit-missing":
        return False
    return any((note.from_ms or 0) <= at_ms <= (note.to_ms or 0) for at_ms in gone.get(note.group, ()))


def _order(note: Note) -> tuple[Any, ...]:
    subject = [str(getattr(note, name)) for name in SUBJECT]
    return subject, note.offset or 0, -(note.end_offset or 0), note.from_ms or 0, note.to_ms or 0, note.rows


def _once(notes: Sequence[Note]) -> Iterator[Note]:
    """What several replicas or files tell alike, or that overlaps, is one."""
    last: Note | None = None
    for each in notes:
        if last is not None and _same(last, each):
            last = _both(last, each)
            continue
        if last is not None:
            yield last
        last = each
    if last is not None:
        yield last


def _same(one: Note, other: Note) -> bool:
    if any(getattr(one, name) != getattr(other, name) for name in SUBJECT):
        return False
    if one.what == "written-twice":
        # The batches of a request that was sent again.
        return (other.offset or 0) <= (one.end_offset or 0)
    if one.what == "acknowledged-missing":
        return (other.offset or 0) < (one.end_offset or 0)
    return (one.offset, one.end_offset, one.detail) == (other.offset, other.end_offset, other.detail)


def _both(one: Note, other: Note) -> Note:
    end = max(one.end_offset, other.end_offset) if one.end_offset and other.end_offset else one.end_offset
    count = one.number
    if one.what == "written-twice" and count and other.number and other.end_offset != one.end_offset:
        count += other.number
    return one._replace(
        rows=tuple(dict.fromkeys((*one.rows, *other.rows))),
        from_ms=_least(one.from_ms, other.from_ms),
        to_ms=max(one.to_ms or 0, other.to_ms or 0) or None,
        end_offset=end,
        number=count,
    )


def _least(one: int | None, other: int | None) -> int | None:
    return min(one, other) if one is not None and other is not None else one or other


def _symptom(kind: Kind, note: Note) -> Symptom:
    count = note.number
    if count is None and note.offset is not None and note.end_offset is not None:
        count = note.end_offset - note.offset
    about = {name: getattr(note, name) for name in (*SUBJECT, "offset", "end_offset", "from_ms", "to_ms")}
    return Symptom(kind.name, kind.told(note), note.rows[:_ROWS], count=count, **about)


def _largest(found: Sequence[Symptom]) -> Iterator[Symptom]:
    """Of what happened to one thing again and again the largest; the first of these says how often."""
    by_subject: dict[tuple[Any, ...], list[Symptom]] = {}
    for each in found:
        by_subject.setdefault(tuple(getattr(each, name) for name in SUBJECT), []).append(each)
    for some in by_subject.values():
        if len(some) > _AGAIN:
            some.sort(key=lambda each: (-(each.count or 0), each.to_ms or 0, each.rows))
            some[0].told += f" ({len(some)} times in all)"
        yield from some[:_AGAIN]


def _without_consequences(found: Sequence[Symptom]) -> list[Symptom]:
    """Without missing offsets if it is told what their group lost, and without lower commits if a client of
    the group has already said that it went back."""
    moved: dict[tuple[str | None, str], list[int]] = {}
    for each in found:
        if each.name in ("records-skipped", "position-back"):
            moved.setdefault((each.group, each.at), []).append(each.to_ms or 0)

    def told(one: Symptom) -> bool:
        if one.name not in ("commit-missing", "commit-back"):
            return False
        times = moved.get((one.group, one.at), ())
        return any(abs(at_ms - (one.to_ms or 0)) <= _SOON_MS for at_ms in times)

    return [each for each in found if not told(each)]
