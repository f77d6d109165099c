"""What was found, as folders: the plan, to be played again, its story, and what is to be filled in."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from mockbroker.plan_files import Schema, read_file
from mockbroker.version import __version__

from .campaign import Found, Result
from .harm import harm_of
from .plan import Plan
from .stage import Outcome
from .telling import lines

PLAN: Final = "plan.json"
STORY: Final = "story.txt"
FINDING: Final = "finding.toml"
RECORD: Final = "record.json"
_UNSAFE: Final = re.compile(r"[^\w.-]+")
SEEDS: Final = "seeds"
"""The folder with the plans of all seeds, as they were drawn."""
RECORDS: Final = Schema("mockbroker-hunt-record", 1, "a record of mockbroker hunt")
_FINDING: Final = """\
# {invariant}: what is in capitals is to be filled in, as in found/ of mockbroker.
# The plan is {plan}, the story {story}.
title = "WHAT GOES WRONG, IN ONE SENTENCE"
client = {client}
# data lost, aborted records read, stuck for ever, stuck for minutes, read again, an error swallowed,
# a needless failure
severity = "WHICH OF THESE"
at = ["FILE:FUNCTION AT FAULT"]
needs = {needs}

[versions]
has = [{version}]
lacks = []

[search]
date = DAY OF THE SEARCH
words = ["WHAT WAS SEARCHED FOR IN THE TRACKERS OF THE CLIENT AND OF KAFKA"]
found = "WHAT IS NEAREST, OR nothing"

[report]
happens = "WHAT THE USER SEES"
expected = "WHAT SHOULD HAPPEN, AND WHO SAYS SO"
cause = "WHY"
fix = "WHAT MENDS IT"
"""


@dataclass(frozen=True)
class Record:
    """What a campaign, or several of the same client, has found of one cause.

    `client` is without its `release`; `sure` are the seeds in which it came back each time, `quiet` those in
    which nothing happened to the cluster; `drawing` is the one by which these seeds are plans.
    """

    client: str
    release: str
    kafka: str
    invariant: str
    application: str
    cause: str
    seeds: tuple[int, ...]
    sure: tuple[int, ...]
    quiet: tuple[int, ...]
    drawing: int

    @property
    def name(self) -> str:
        """Of its folder."""
        return _UNSAFE.sub("_", "-".join(filter(None, (self.invariant, self.application, self.cause))))

    @property
    def order(self) -> tuple[Any, ...]:
        """The worst first, then what came most often."""
        return harm_of(self.invariant), -len(self.sure), -len(self.seeds), self.name

    def to_json(self) -> str:
        """The text of its file."""
        return RECORDS.text(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """PlanError."""
        row, _ = RECORDS.read(text)
        return RECORDS.built(cls, row)


@dataclass
class Group:
    """Violations of one cause by one kind of application. `best` is the one that is shown; `plans` are those
    of its seeds, as they were drawn."""

    invariant: str
    kind: str
    cause: str
    best: Found
    plans: dict[int, Plan] = field(default_factory=dict)
    sure: set[int] = field(default_factory=set)
    there: dict[int, int] = field(default_factory=dict)
    """How many runs with an upstream showed it, by seed; without those that were not played there."""

    def record(self, client: str) -> Record:
        name, _, version = client.rpartition(" ")
        plan = self.best.outcome.plan
        quiet = [seed for seed, each in self.plans.items() if not each.steps]
        return Record(
            name or client,
            version,
            plan.kafka,
            self.invariant,
            self.kind,
            self.cause,
            tuple(sorted(self.plans)),
            tuple(sorted(self.sure)),
            tuple(sorted(quiet)),
            plan.drawing,
        )


class Groups:
    """All that was found, by invariant, kind of application, and cause."""

    def __init__(self) -> None:
        self._by_name: dict[tuple[str, str, str], Group] = {}

    def __iter__(self) -> Iterator[Group]:
        return iter(self._by_name.values())

    def __bool__(self) -> bool:
        return bool(self._by_name)

    def add(self, result: Result) -> list[Group]:
        """Those that are new with it."""
        new = []
        for found in result.found:
            (invariant, cause), kind = found.cause, _kind(result.plan, found.violation.user)
            name = (invariant, kind, cause)
            if name not in self._by_name:
                self._by_name[name] = Group(invariant, kind, cause, found)
                new.append(self._by_name[name])
            group = self._by_name[name]
            group.plans[result.seed] = result.plan
            if found.sure:
                group.sure.add(result.seed)
            if found.there is not None:
                group.there[result.seed] = found.there
            if _order(found) < _order(group.best):
                group.best = found
        return new


def _order(found: Found) -> tuple[bool, bool, int]:
    """What is sure comes first, then what needs no event, then what is small."""
    plan = found.outcome.plan
    return not found.sure, bool(plan.steps), plan.size


def _kind(plan: Plan, user: str) -> str:
    """The kind of application that a user is; a group is known by its members."""
    kinds = {each.name: each.kind for each in plan.users}
    groups = {each.fields.get("group"): each.kind for each in plan.users}
    return kinds.get(user) or kinds.get(user.removesuffix("-in")) or groups.get(user) or "cluster"


def write(folder: Path, group: Group, client: str, outcome: Outcome, told: list[str]) -> Path:
    """Writes a finding's folder, and returns it. OSError."""
    record = group.record(client)
    home = folder / record.name
    (home / SEEDS).mkdir(parents=True, exist_ok=True)
    (home / PLAN).write_text(outcome.plan.to_json())
    (home / RECORD).write_text(record.to_json())
    for seed, plan in group.plans.items():
        (home / SEEDS / f"{seed}.json").write_text(plan.to_json())
    story = [
        f"{client}, Kafka {outcome.plan.kafka}, mockbroker {__version__}",
        f"{group.invariant}: in {len(record.seeds)} seeds, the first of them {record.seeds[0]}",
        f"in {len(record.quiet)} of them nothing happened to the cluster",
        "",
        *told,
        "",
        "What applications do:",
        *(f"  {user.name}: {step}" for user in outcome.plan.users for step in user.steps),
        "What happens to the cluster:",
        *(f"  {step}" for step in outcome.plan.steps or ("nothing",)),
        "",
        *lines(outcome),
    ]
    (home / STORY).write_text("\n".join(story) + "\n")
    (home / FINDING).write_text(_finding(group, client, outcome))
    return home


def _finding(group: Group, client: str, outcome: Outcome) -> str:
    name, _, version = client.rpartition(" ")
    return _FINDING.format(
        invariant=group.invariant,
        plan=PLAN,
        story=STORY,
        client=json.dumps(name or client),
        version=json.dumps(version),
        needs=json.dumps("; ".join(map(str, outcome.plan.steps)) or "nothing", ensure_ascii=False),
    )


def read(path: Path) -> Plan:
    """A plan from its file, or from the folder that has it. ValueError, OSError."""
    path = path / PLAN if path.is_dir() else path
    return read_file(path, Plan.from_json)
