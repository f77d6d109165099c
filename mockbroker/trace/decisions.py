"""Which decisions of behaviours become events, and for which request they were made."""

from collections.abc import Callable, Container, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..policies import CATALOGUE, Scope
from ..policies.watched import Decision as Decided
from ..protocol import releases
from .event import Event
from .events import DETAILS, Decision

if TYPE_CHECKING:
    from ..cluster.call import Call
    from ..faults.exchange import Handler

_FEW: Final = 100
_MANY: Final = 10_000
_NEWEST: Final = releases.parse(releases.NEWEST)


class Decisions:
    """Calls `add` with the number of the request for which a decision was made, and with the other fields of
    its event.

    For one request each answer of a behaviour is reported once, however many partitions it was used for.
    While no request is being handled, a behaviour is reported if it decides differently than the last time
    for that topic and broker.
    """

    def __init__(self, add: Callable[[int | None, tuple[Any, ...]], None]) -> None:
        self._add = add
        self._outcomes: dict[Hashable, int] = {}
        self._of_values: dict[int, tuple[Decided, int, tuple[Any, ...]]] = {}
        self._latest: dict[tuple[str, Scope], int] = {}
        """The `id` of the decision in `_of_values`, by behaviour and scope."""
        self._count = 0
        self._request: int | None = None
        self._of_request: set[int] = set()
        self._of_none: dict[tuple[str, Scope], int] = {}
        self._prune_at = _FEW

    def during(self, number: int, handler: "Handler") -> "Handler":
        """The handler; what is decided until it returns is attributed to request `number`."""

        def work(call: "Call", request: Any) -> Any:
            before, self._request = self._request, number
            self._of_request.clear()
            try:
                return handler(call, request)
            finally:
                self._request = before

        return work

    def forget_all_but(self, topics: Container[str]) -> None:
        """From time to time, forgets what was decided for topics that are gone."""
        if len(self._of_none) + len(self._latest) < self._prune_at:
            return
        self._of_none = {
            place: outcome
            for place, outcome in self._of_none.items()
            if place[1].topic is None or place[1].topic in topics
        }
        for place in [each for each in self._latest if each[1].topic is not None]:
            if place[1].topic not in topics:
                del self._of_values[self._latest.pop(place)]
        self._prune_at = 2 * (len(self._of_none) + len(self._latest)) + _FEW

    def decided(self, one: Decided) -> None:
        """A behaviour was asked."""
        known = self._of_values.get(id(one))
        _, outcome, told = known or self._outcome(one)
        if self._request is None:
            place = (one.name, one.where)
            if self._of_none.get(place) == outcome:
                return
            self._of_none[place] = outcome
        else:
            if outcome in self._of_request:
                return
            self._of_request.add(outcome)
        self._add(self._request, told or _told(one))

    def _outcome(self, one: Decided) -> tuple[Decided, int, tuple[Any, ...]]:
        """The same number for decisions that differ only in what was asked; and what is told of it, if that
        is kept."""
        if len(self._outcomes) > _MANY:
            # The numbers are not used again: requests that are being handled still know the old ones.
            self._outcomes.clear()
            self._of_values.clear()
            self._latest.clear()
        key = (one.name, one.answer, one.source, repr(one.answered))
        number = self._outcomes.get(key)
        if number is None:
            self._count += 1
            number = self._outcomes[key] = self._count
        if one.asked is not None:
            return one, number, ()
        place = (one.name, one.where)
        self._of_values.pop(self._latest.get(place, 0), None)
        self._latest[place] = id(one)
        # It is kept, so that no other object gets its id.
        self._of_values[id(one)] = found = one, number, _told(one)
        return found


def _told(one: Decided) -> tuple[Any, ...]:
    """The last fields of an event."""
    kind, scope = one.source
    return (one.name, one.answer, kind, str(scope), *one.where, one.asked, one.answered)


def for_people(events: Sequence[Event]) -> list[Event]:
    """Without `DETAILS`, and only decisions that somebody chose, or that the newest release would not make,
    each of them once."""
    shown: list[Event] = []
    seen: set[str] = set()
    for event in events:
        if event.kind in DETAILS:
            continue
        if isinstance(event, Decision):
            text = event.text()
            if text in seen or _is_usual(event):
                continue
            seen.add(text)
        shown.append(event)
    return shown


def last(events: Sequence[Event], most: int) -> list[str]:
    """The end of a trace, in as many lines."""
    shown = for_people(events)
    return [str(event) for event in shown[max(len(shown) - max(most, 0), 0) :]]


def _is_usual(event: Decision) -> bool:
    return event.source == "release" and event.answer == CATALOGUE[event.name].default(_NEWEST)
