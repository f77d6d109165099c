"""What became of everything, for pages that can't read all events: of those that tell the state of the same
thing, the last one, and of the requests of a connection one of each API, with its answer."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from operator import itemgetter
from typing import Any, Final

from ..trace import events, group_events
from ..trace.as_json import as_json, encode, values_as_json
from ..trace.event import Event
from ..trace.kept import Unread, as_read
from ..trace.looks import Snapshot, rows_of


def _values(kind: type[Event], *names: str) -> Callable[[Unread], Any]:
    """What gets them of an entry, in which the kind is the second of all values."""
    number, *others = (each.name for each in fields(kind))
    places = [number, "kind", *others]
    return itemgetter(*map(places.index, names))


_ABOUT: Final[dict[Any, Callable[[Unread], Any]]] = {
    kind: _values(kind, "kind", *names.split())
    for kind, names in {
        events.Topic: "topic",
        events.HighWatermark: "topic partition",
        events.Replica: "topic partition broker",
        events.Producer: "topic partition producer_id",
        events.Committed: "topic partition group",
        events.Image: "broker",
        events.Decision: "name",
        group_events.Group: "group",
        group_events.Member: "group member_id",
        group_events.SharePartition: "topic partition group",
        group_events.ShareSession: "broker group member_id",
        events.Transaction: "transactional_id",
    }.items()
}
"""What an event supersedes, by its kind. All other kinds but requests and answers are told one by one."""
_EXCHANGE: Final = _values(events.Request, "connection", "api")
_CORRELATION_ID: Final = _values(events.Request, "correlation_id")

AT_ONCE: Final = 200
"""So many lines are made at once: those of some milliseconds."""
ROWS_AT_ONCE: Final = 500
"""The same of the rows of a keyframe."""

KEYFRAMES: Final = 10
"""The first keyframe is told, and then one of so many. To make its line takes longer than clients of the
cluster like to wait, and a page that has the state already learns nothing from it."""

_Told = tuple[Unread, ...]
"""Events that belong together."""


class Latest:
    """Is given events, as number, kind and other values. It keeps what came since the last keyframe that is
    told, that included; `last` is the number of the last event."""

    def __init__(self) -> None:
        self._left_out = 0
        """How many keyframes came since the last one that is told."""
        self._told: dict[object, _Told] = {}
        """In the order in which they came."""
        self._asked: dict[object, Unread] = {}
        """Requests without an answer."""
        self._summaries: dict[int, Summary] = {}
        """Of the time until the last event, by the number after which they begin."""
        self._lines: dict[int, bytes] = {}
        """What these have made so far, by event."""
        self.last = 0

    @property
    def begin(self) -> int:
        """The number of the last keyframe that is told; 0 if there is none."""
        told = self._told.get(events.Keyframe)
        return 0 if told is None else told[0][0]

    def __call__(self, entries: Iterable[Unread]) -> None:
        """Takes what came next."""
        if self._summaries:
            # Who still makes one of them goes on.
            self._summaries, self._lines = {}, {}
        told = self._told
        for entry in entries:
            about = _ABOUT.get(entry[1])
            if about is None:
                self._take(entry)
            else:
                key = about(entry)
                told.pop(key, None)
                told[key] = (entry,)
            self.last = entry[0]

    def _take(self, entry: Unread) -> None:
        """One that says nothing of a state."""
        kind = entry[1]
        about: object = entry[0]
        told: _Told = (entry,)
        if kind is events.Request:
            self._asked.setdefault(_EXCHANGE(entry), entry)
            return
        if kind is events.Answer:
            about = _EXCHANGE(entry)
            asked = self._asked.get(about)
            if asked is None or _CORRELATION_ID(asked) != _CORRELATION_ID(entry):
                return
            del self._asked[about]
            told = asked, entry
        elif kind is events.Keyframe:
            goes_on = self.begin and entry[0] == self.last + 1
            self._left_out = (self._left_out + 1) % KEYFRAMES if goes_on else 0
            if self._left_out:
                return
            self._begin_anew()
            about = kind
        self._told.pop(about, None)
        self._told[about] = told

    def _begin_anew(self) -> None:
        """At a keyframe. What is told one by one stays until the next one: a page may come later for it."""
        told, before = self._told, self.begin
        for about in [each for each in told if type(each) is not int or each < before]:
            del told[about]
        self._asked.clear()

    def after(self, number: int) -> "Summary":
        """Of events after this one, in their order; the same for all who ask for the same."""
        summary = self._summaries.get(number)
        if summary is None:
            found: list[Unread] = []
            for told in reversed(self._told.values()):
                if told[-1][0] <= number:
                    break
                if told[0][0] > number:
                    found += told
            found.sort(key=itemgetter(0))
            # What is left out of the end may be what a page waits for: it is told after the summary.
            last = found[-1][0] if found else self.last
            summary = self._summaries[number] = Summary(found, last, self._lines)
        return summary


class Summary:
    """Lines of events up to number `last`, in parts. Each is made when somebody gets there first, so that
    clients of the cluster are answered in between. `lines` are those that others have made."""

    def __init__(self, entries: list[Unread], last: int, lines: dict[int, bytes]) -> None:
        self.last = last
        self._making = _parts(entries, lines)
        self._parts: list[bytes] = []

    def __iter__(self) -> Iterator[bytes]:
        for number in itertools.count():
            if number == len(self._parts):
                part = next(self._making, None)
                if part is None:
                    return
                self._parts.append(part)
            yield self._parts[number]


def _parts(entries: list[Unread], lines: dict[int, bytes]) -> Iterator[bytes]:
    for is_keyframe, found in itertools.groupby(entries, lambda each: each[1] is events.Keyframe):
        if is_keyframe:
            for each in found:
                yield from parts_of(each)
        else:
            while some := list(itertools.islice(found, AT_ONCE)):
                for each in some:
                    if each[0] not in lines:
                        lines[each[0]] = line_of(each)
                yield b"".join([lines[each[0]] for each in some])


def parts_of(keyframe: Unread) -> Iterator[bytes]:
    """Its line, in parts as well."""
    number, _, time_ms, state = keyframe
    rows = rows_of(state.changes()) if type(state) is Snapshot else iter(state)
    yield as_json(events.Keyframe(number, time_ms, ())).removesuffix("]}").encode()
    comma = ""
    while found := list(itertools.islice(rows, ROWS_AT_ONCE)):
        yield (comma + encode(found)[1:-1]).encode()
        comma = ","
    yield b"]}\n"


def line_of(entry: Unread) -> bytes:
    """As in a trace file."""
    return values_as_json(as_read(entry)).encode() + b"\n"
