"""The last events of a cluster. They are values at first, and become events when somebody reads them."""

import marshal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from operator import itemgetter
from typing import Any, Final, overload

from . import produced
from .event import Event
from .events import Answer, Request
from .looks import Snapshot
from .plain import plain

Unread = tuple[int, Callable[..., Event], *tuple[Any, ...]]
"""Its number, the kind of event or another function that makes it, and the arguments after the number;
bodies are `packed` or noted (`produced`), and a keyframe has a `Snapshot` in place of rows."""
Entry = Event | Unread

MOST_ENTRIES: Final = 200_000
"""How many entries the large requests and answers that are kept may have together: partitions, topics and
groups that they name, or any others."""


class Kept(Sequence[Event]):
    """The last `most` events; fewer if requests name very many partitions.

    May be read in any thread.
    """

    def __init__(self, most: int) -> None:
        self._entries: deque[Entry] = deque(maxlen=most)
        self._made: dict[int, Event] = {}
        self._most = most
        self._large: deque[tuple[int, int]] = deque()
        self._weight = 0
        self.append = self._entries.append
        self.extend = self._entries.extend

    def count(self, value: Any = None) -> int:
        return len(self._entries) if value is None else list(self).count(value)

    def entries(self) -> "list[Entry]":
        """As they are kept."""
        return list(self._entries)

    def made(self, entry: "Entry") -> Event:
        """The event of an entry."""
        if type(entry) is not tuple:
            return entry  # type: ignore[return-value]
        found = self._made.get(entry[0])
        if found is None:
            if len(self._made) > 2 * self._most:
                self._made.clear()
            found = self._made[entry[0]] = event_of(entry)
        return found

    def weigh(self, number: int, weight: int) -> None:
        """Counts the entries of event `number`, and forgets the oldest events if there are too many."""
        entries, large = self._entries, self._large
        large.append((number, weight))
        self._weight += weight
        while self._weight > MOST_ENTRIES or (entries and large and large[0][0] < number_of(entries[0])):
            last, weight = large.popleft()
            self._weight -= weight
            while entries and number_of(entries[0]) <= last:
                entries.popleft()

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [self.made(each) for each in list(self._entries)[index]]
        return self.made(self._entries[index])

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Event]:
        return map(self.made, list(self._entries))

    def __reversed__(self) -> Iterator[Event]:
        return map(self.made, reversed(list(self._entries)))


def event_of(entry: Entry) -> Event:
    """The event of an entry, made anew if that is unread."""
    if type(entry) is not tuple:
        return entry  # type: ignore[return-value]
    number, make, *values = as_read(entry)
    return make(number, *values)


def as_read(entry: Unread) -> Unread:
    """With the body that its event has, or with rows."""
    make, last = entry[1], entry[-1]
    if make is Request:
        return *entry[:-1], _body_of(last, produced.request_of)
    if make is Answer:
        return *entry[:-2], _body_of(entry[-2], produced.answer_of), last
    return (*entry[:-1], last.rows()) if type(last) is Snapshot else entry  # type: ignore[return-value]


def packed(body: dict[str, Any]) -> Any:
    """A body as an entry has it. Bytes, unlike what is nested, are nothing that collecting garbage has to go
    through: of 100,000 events, that would take longer than clients like to wait."""
    try:
        return marshal.dumps(body)
    except ValueError:
        # It has numbers with names.
        return body


def _body_of(body: Any, message: Callable[[produced.Noted], Any]) -> Any:
    """That of an entry: packed, or what was noted of a message of Produce."""
    if type(body) is bytes:
        return marshal.loads(body)
    return plain(message(body)) if type(body) is tuple else body


def values_of(entries: list[Entry]) -> list[Unread]:
    """Entries as number, kind of event, and the values of its other fields."""
    if {*map(type, entries)} == {tuple} and {*map(type, map(itemgetter(1), entries))} == {type}:  # type: ignore[arg-type]
        return entries  # type: ignore[return-value]
    return [_values_of(event_of(each)) for each in entries]


def _values_of(event: Event) -> Unread:
    _, *others = fields(event)
    return (event.number, type(event), *(getattr(event, each.name) for each in others))


def number_of(entry: Entry) -> int:
    return entry[0] if type(entry) is tuple else entry.number  # type: ignore[union-attr]
