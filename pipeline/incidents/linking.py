"""Finds for each finding what led to it, and makes incidents of what belongs together."""

import json
import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..consequences import Rule
from ..signatures import rules
from .model import CONFIDENCE, Event, Finding, Incident
from .telling import story

CLOCKS_MS: Final = 5_000
"""How much earlier than its cause something may seem to be, because clocks differ."""
TOGETHER_MS: Final = 60_000
"""What happens to several groups or partitions within this time, without a known cause, has the same one."""
_TOPIC: Final = "topic"


class _Cause(NamedTuple):
    """A link to the finding `number`, `after_ms` before, or later if that is negative."""

    keys: int
    after_ms: int
    number: int
    why: str

    @property
    def order(self) -> tuple[Any, ...]:
        """The best first: what was not later, what has more in common, what was not long ago."""
        return self.after_ms < 0, -self.keys, abs(self.after_ms), self.number


class _Alike:
    """Findings of one signature that are about the same, in the order of time: what may lead to something is
    found without a look at the others."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._begun: list[float] = []
        self._ended: list[float] = []
        """When the last of them ended so far."""

    def add(self, number: int, finding: Finding) -> None:
        begun, ended = finding["from_ms"], finding["to_ms"]
        self._numbers.append(number)
        self._begun.append(-math.inf if begun is None else begun)
        self._ended.append(max([math.inf if begun is None else ended, *self._ended[-1:]]))

    def near(self, rule: Rule, noticed: int | None) -> Sequence[int]:
        """Those that may have led to what was noticed then."""
        if noticed is None:
            return self._numbers
        first = bisect_left(self._ended, noticed - rule.within_ms)
        return self._numbers[first : bisect_right(self._begun, noticed + CLOCKS_MS)]


def _keys(rule: Rule) -> tuple[str, ...]:
    return rule.keys if rule.topic is None else (*rule.keys, _TOPIC)


def _values(rule: Rule, finding: Finding) -> tuple[Any, ...]:
    own = tuple(finding[key] for key in rule.keys)
    return own if rule.topic is None else (*own, rule.topic)


def link(findings: Iterable[Finding]) -> list[Incident]:
    """All findings, each in one incident, in whatever order they come: the most certain incidents first, then
    by time."""
    ordered = sorted(findings, key=_order)
    causes = _causes(ordered)
    incidents = [
        _incident(ordered, numbers, causes) for numbers in _together(ordered, causes, _led_to(causes))
    ]
    return sorted(incidents, key=lambda each: (_rank(each.cause), _order(each.cause)))


def _order(finding: Finding) -> tuple[Any, ...]:
    begun = finding["from_ms"]
    return begun is not None, begun or 0, json.dumps(finding, sort_keys=True, default=str)


def _rank(finding: Finding) -> int:
    return CONFIDENCE.index(finding["confidence"])


def _causes(ordered: Sequence[Finding]) -> dict[int, _Cause]:
    """The best cause of each finding that has one; no chain of them comes back to where it began."""
    causes: dict[str, list[Rule]] = {}
    keys: dict[str, set[tuple[str, ...]]] = {}
    for rule in rules():
        causes.setdefault(rule.consequence, []).append(rule)
        keys.setdefault(rule.cause, set()).add(_keys(rule))
    alike: dict[tuple[Any, ...], _Alike] = {}
    for number, finding in enumerate(ordered):
        signature = finding["signature"]
        for each in keys.get(signature, ()):
            place = signature, each, tuple(finding[key] for key in each)
            alike.setdefault(place, _Alike()).add(number, finding)
    found: dict[int, _Cause] = {}
    for number, finding in enumerate(ordered):
        possible = (
            _Cause(len(rule.keys), after_ms, other, rule.why)
            for rule in causes.get(finding["signature"], ())
            if (known := alike.get((rule.cause, _keys(rule), _values(rule, finding)))) is not None
            for other in known.near(rule, finding["to_ms"])
            if (after_ms := _after_ms(rule, ordered[other], finding)) is not None
        )
        for cause in sorted(possible, key=lambda each: each.order):
            if number not in _chain(cause.number, found):
                found[number] = cause
                break
    return found


def _after_ms(rule: Rule, cause: Finding, finding: Finding) -> int | None:
    """The time from one to the other, 0 if it is not known; None if they don't belong together."""
    if cause is finding or not _about_the_same(rule, cause, finding):
        return None
    begun: int | None = cause["from_ms"]
    noticed: int | None = finding["to_ms"]
    if begun is None or noticed is None:
        return 0
    if not begun - CLOCKS_MS <= noticed <= cause["to_ms"] + rule.within_ms:
        return None
    return noticed - begun


def _about_the_same(rule: Rule, cause: Finding, finding: Finding) -> bool:
    """By the keys of a rule. What neither has, as a partition that a timeline does not name, may be shown by
    a row that both are based on."""
    unlike = [key for key in rule.keys if cause[key] is None or cause[key] != finding[key]]
    if any(cause[key] is not finding[key] for key in unlike):
        return False
    return not unlike or not _rows(cause).isdisjoint(_rows(finding))


def _rows(finding: Finding) -> set[tuple[str, int]]:
    return {(row["file"], row["position"]) for row in finding["evidence"]}


def _chain(number: int, causes: Mapping[int, _Cause]) -> Iterator[int]:
    yield number
    while number in causes:
        number = causes[number].number
        yield number


def _led_to(causes: Mapping[int, _Cause]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for number, cause in causes.items():
        found.setdefault(cause.number, []).append(number)
    return found


def _together(
    ordered: Sequence[Finding], causes: Mapping[int, _Cause], led_to: Mapping[int, Sequence[int]]
) -> Iterator[list[int]]:
    """The findings of each incident: those without a cause that happened to the same at the same time, each
    with all that followed from it."""
    first: dict[int, int] = {}

    def first_of(number: int) -> int:
        while first[number] != number:
            first[number] = number = first[first[number]]
        return number

    last: dict[tuple[Any, ...], int] = {}
    for number, finding in enumerate(ordered):
        if number in causes:
            continue
        first[number] = number
        for kind in _kinds(finding):
            other = last.get(kind)
            if other is not None and _near(ordered[other], finding):
                one, another = sorted((first_of(other), first_of(number)))
                first[another] = one
            last[kind] = number
    groups: dict[int, list[int]] = {}
    for number in first:
        groups.setdefault(first_of(number), []).append(number)
    for rest in groups.values():
        found = []
        while rest:
            found.append(rest.pop(0))
            rest += led_to.get(found[-1], ())
        yield found


def _kinds(finding: Finding) -> Iterator[tuple[Any, ...]]:
    """What findings of the same have in common: the place, of which not all say who reads it; or a group, a
    producer, or brokers that an event befell, whatever the place."""
    signature, topic = finding["signature"], finding["topic"]
    yield signature, topic, finding["partition"], finding["broker"] if topic is None else None
    sure = signature, finding["confidence"]
    whose = [(key, finding[key]) for key in ("group", "producer_id") if finding[key] is not None]
    yield from ((*sure, *each) for each in whose)
    if not whose and topic is not None and finding["broker"] is not None:
        yield sure


def _near(one: Finding, other: Finding) -> bool:
    times = one["from_ms"], other["from_ms"]
    return None in times or times[1] - times[0] <= TOGETHER_MS


def _incident(ordered: Sequence[Finding], numbers: Sequence[int], causes: Mapping[int, _Cause]) -> Incident:
    best = min(
        (each for each in numbers if each not in causes), key=lambda each: (_rank(ordered[each]), each)
    )
    told = {best: 0}
    rest = sorted(set(numbers) - {best}, key=lambda each: (_noticed(ordered[each], each in causes), each))
    while rest:
        # What something led to comes after it, even if clocks say otherwise.
        number = next(each for each in rest if each not in causes or causes[each].number in told)
        rest.remove(number)
        told[number] = len(told)
    events = [_event(ordered[number], causes.get(number), told) for number in told]
    return Incident(events, story(events))


def _noticed(finding: Finding, led_to: bool) -> int:
    return finding["to_ms" if led_to else "from_ms"] or 0


def _event(finding: Finding, cause: _Cause | None, told: Mapping[int, int]) -> Event:
    return Event(finding) if cause is None else Event(finding, told[cause.number], cause.why)
