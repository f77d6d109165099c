"""What campaigns have played: which requests of a client met which fault, in which state of the broker.

A file of it steers the next campaign: what was never seen comes first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final, Self

from mockbroker.plan_files import Schema, read_file
from mockbroker.trace import Event
from mockbroker.trace.events import Request

from .drawn_faults import ANY, Aim, Asked, place_of, role, way_of
from .placing import Acted
from .plan import Plan, Step

COVERAGE: Final = Schema("mockbroker-hunt-coverage", 1, "the coverage of mockbroker hunt")
_ENOUGH: Final = 3
"""So often a fault is aimed at a request that never comes before others are preferred."""

Key = tuple[str, str, str, str, str]
"""The workload, and the fields of an `Aim`."""


class Known:
    """Of one client, with brokers of one release."""

    def __init__(self) -> None:
        self.requests: dict[str, list[Asked]] = {}
        """By workload."""
        self.tried: Counter[Key] = Counter()
        self.seen: defaultdict[Key, Counter[str]] = defaultdict(Counter)
        """How often, by the state of the broker."""

    def asked(self, workload: str) -> Sequence[Asked]:
        return self.requests.get(workload, ())

    def least(self, workload: str, aims: Sequence[Aim], seed: int) -> int:
        """Those that were never seen come first, unless they were tried in vain too often."""

        def rank(aim: Aim) -> int:
            key = (workload, *aim)
            seen, tried = self.seen.get(key), self.tried[key]
            return tried + seen.total() if seen else 0 if tried < _ENOUGH else tried * tried

        ranks = [rank(aim) for aim in aims]
        least = min(ranks)
        lowest = [index for index, each in enumerate(ranks) if each == least]
        Random(f"order of {len(lowest)}").shuffle(lowest)
        return lowest[seed % len(lowest)]

    def add(self, plan: Plan, acted: Iterable[Acted]) -> None:
        """What came of a plan."""
        for step in plan.steps:
            if step.do == "fault" and place_of(step):
                self.tried[_aimed(plan, step)] += 1
        for each in acted:
            key = _aimed(plan, each.step)
            if not place_of(each.step):
                key = (plan.workload, role(each.client_id), each.api, "", way_of(each.step.fields))
            self.seen[key][each.state] += 1

    def merge(self, other: "Known") -> None:
        for workload, asked in other.requests.items():
            self.requests.setdefault(workload, asked)
        self.tried.update(other.tried)
        for key, states in other.seen.items():
            self.seen[key].update(states)

    # As a file has it.

    def row(self) -> dict[str, Any]:
        asked = [[workload, *each] for workload, some in sorted(self.requests.items()) for each in some]
        faults = sorted({*self.tried, *self.seen})
        return {
            "requests": asked,
            "faults": [[*key, self.tried[key], dict(self.seen.get(key, {}))] for key in faults],
        }

    @classmethod
    def of(cls, row: dict[str, Any]) -> Self:
        """TypeError, ValueError, KeyError for what is no row."""
        known = cls()
        for workload, *asked in row["requests"]:
            known.requests.setdefault(workload, []).append(Asked(*asked))
        for workload, client_id, api, place, way, tried, states in row["faults"]:
            key = (workload, client_id, api, place, way)
            known.tried[key] = tried
            if states:
                known.seen[key].update(states)
        return known


def _aimed(plan: Plan, step: Step) -> Key:
    given = step.fields
    return (plan.workload, given.get("client_id", ANY), given.get("api", ANY), place_of(step), way_of(given))


@dataclass
class Coverage:
    """Of all clients: `client, Kafka release`."""

    clients: dict[str, Known] = field(default_factory=dict)

    def of(self, client: str, kafka: str) -> Known:
        return self.clients.setdefault(f"{client}, Kafka {kafka}", Known())

    def merge(self, other: "Coverage") -> None:
        for name, known in other.clients.items():
            self.clients.setdefault(name, Known()).merge(known)

    def to_json(self) -> str:
        """The text of its file."""
        return COVERAGE.text({"clients": list(self.clients)}, [each.row() for each in self.clients.values()])

    @classmethod
    def from_json(cls, text: str) -> Self:
        """PlanError says what is wrong with the text."""
        head, rows = COVERAGE.read(text)
        try:
            return cls({name: Known.of(row) for name, row in zip(head["clients"], rows, strict=True)})
        except (TypeError, ValueError, KeyError) as error:
            raise COVERAGE.error(repr(error)) from None


def read(path: Path) -> Coverage:
    """An empty one if there is no such file. ValueError, OSError."""
    if not path.exists():
        return Coverage()
    return read_file(path, Coverage.from_json)


class Learning:
    """Counts what clients ask in a run in which nothing goes wrong."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._last: dict[str, str] = {}
        self._since: dict[str, Counter[str]] = {}
        self.over = False
        """Whether all was made well: faults that are aimed at what comes now would never act."""

    def begins(self, user: str, verb: str) -> None:
        """An application makes a call."""
        self._last[user], self._since[user] = verb, Counter()

    def heard(self, event: Event) -> None:
        """A request came, or something else happened."""
        if self.over or not isinstance(event, Request) or event.client_id is None:
            return
        user, api = event.client_id, event.api
        self._counts[user, "", api] += 1
        if user in self._last:
            since = self._since[user]
            since[api] += 1
            after = (user, self._last[user], api)
            self._counts[after] = max(self._counts[after], since[api])

    def asked(self) -> Iterator[Asked]:
        """By the roles of clients, the most that one of them has asked."""
        most: dict[tuple[str, str, str], int] = {}
        for (user, call, api), count in sorted(self._counts.items()):
            key = (role(user), call, api)
            most[key] = max(most.get(key, 0), count)
        return (Asked(*key, count) for key, count in most.items())


def more(first: Iterable[Asked], second: Iterable[Asked]) -> list[Asked]:
    """Of two runs, the larger counts."""
    most: dict[tuple[str, str, str], int] = {}
    for client_id, call, api, count in (*first, *second):
        most[client_id, call, api] = max(count, most.get((client_id, call, api), 0))
    return [Asked(*key, count) for key, count in sorted(most.items())]
