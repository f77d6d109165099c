"""Why a fault never fired: which of its conditions the requests did not meet."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from ..nearest import near

VALUES_KEPT: Final = 20
"""How many different values are remembered for each condition."""
_SHOWN: Final = 5


class Unmet(NamedTuple):
    """The first condition that a request did not meet, and the value that it had there."""

    condition: str
    found: Collection[str]


class UnmetConditions:
    """Counts requests of the right API that did not match a fault, by the condition that they did not
    meet."""

    def __init__(self) -> None:
        self._requests: Counter[str] = Counter()
        self._found: dict[str, dict[str, None]] = {}

    def count(self, unmet: Unmet) -> None:
        self._requests[unmet.condition] += 1
        found = self._found.setdefault(unmet.condition, {})
        for each in unmet.found:
            if len(found) < VALUES_KEPT:
                found[each] = None

    @property
    def requests(self) -> int:
        return self._requests.total()

    def told(self, wanted: dict[str, str]) -> str:
        """`none for the topic 'ordres' (they were for 'orders': did you mean that?)` if all of them miss the
        same condition; otherwise how many miss which. `wanted` is what the fault asks for, by condition."""
        requests = dict(self._requests)
        if len(requests) == 1:
            (condition,) = requests
            return f"none {_PHRASES[condition].format(wanted[condition])} ({self._others(condition, wanted)})"
        return "; ".join(
            f"{count} not {_PHRASES[condition].format(wanted[condition])} ({self._others(condition, wanted)})"
            for condition, count in requests.items()
        )

    def _others(self, condition: str, wanted: dict[str, str]) -> str:
        found = list(self._found.get(condition, ()))
        if not found:
            return "they named none"
        shown = enumerated(found, quoted=condition in _QUOTED)
        return f"they were {_PLURALS[condition]} {shown}{_meant(wanted[condition], found, condition)}"


def enumerated(names: Iterable[str], *, quoted: bool = False) -> str:
    """The first few names, and whether there are more."""
    shown = [repr(each) if quoted else each for each in names]
    return ", ".join(shown[:_SHOWN]) + " and others" * (len(shown) > _SHOWN)


def _meant(wanted: str, found: list[str], condition: str) -> str:
    if condition not in _QUOTED or (best := near(wanted, found)) is None:
        return ""
    return ": did you mean that?" if len(found) == 1 else f": did you mean {best!r}?"


_QUOTED: Final = frozenset(
    {"client_id", "group", "listener", "mechanism", "resource", "topic", "transactional_id", "user"}
)
_PHRASES: Final = {
    "version": "of version {}",
    "broker": "to broker {}",
    "nth_on_connection": "at number {} of its connection",
    "client_id": "of the client {!r}",
    "user": "of the user {!r}",
    "mechanism": "with the mechanism {!r}",
    "listener": "at the listener {!r}",
    "group": "for the group {!r}",
    "transactional_id": "for the transactional id {!r}",
    "topic": "for the topic {!r}",
    "topic_id": "for the topic id {}",
    "resource": "for the resource {!r}",
    "partition": "for partition {}",
}
_PLURALS: Final = {
    "version": "of version",
    "broker": "to broker",
    "nth_on_connection": "at number",
    "client_id": "of",
    "user": "of",
    "mechanism": "with",
    "listener": "at",
    "group": "for",
    "transactional_id": "for",
    "topic": "for",
    "topic_id": "for",
    "resource": "for",
    "partition": "for",
}
