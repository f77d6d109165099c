"""What was found, as folders: the plan, to be played again, its story, and what is to be filled in."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mockbroker.plan_files import PlanError
from mockbroker.version import __version__

from .campaign import Found, Result
from .plan import Plan
from .stage import Outcome
from .telling import lines

PLAN: Final = "plan.json"
STORY: Final = "story.txt"
FINDING: Final = "finding.toml"
_FINDING: Final = """\
# {invariant}: what is in capitals is to be filled in, as in found/ of mockbroker.
# The plan is {plan}, the story {story}.
title = "WHAT GOES WRONG, IN ONE SENTENCE"
client = {client}
# data lost, aborted records read, stuck for ever, stuck for minutes, read again, an error swallowed
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


@dataclass
class Group:
    """Violations of one invariant by one kind of application. `best` is the one that is shown."""

    invariant: str
    kind: str
    best: Found
    seeds: list[int] = field(default_factory=list)
    sure: int = 0
    quiet: int = 0
    """In so many seeds nothing happened to the cluster."""

    @property
    def name(self) -> str:
        return f"{self.invariant}-{self.kind}"


class Groups:
    """All that was found, by invariant and kind of application."""

    def __init__(self) -> None:
        self.by_name: dict[str, Group] = {}

    def add(self, result: Result) -> None:
        for found in result.found:
            kind = _kind(result.plan, found.violation.user)
            made = Group(found.violation.invariant, kind, found)
            group = self.by_name.setdefault(made.name, made)
            if result.seed in group.seeds:
                continue
            group.seeds.append(result.seed)
            group.sure += found.sure
            group.quiet += not result.plan.steps
            if _order(found) < _order(group.best):
                group.best = found


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
    home = folder / group.name
    home.mkdir(parents=True, exist_ok=True)
    (home / PLAN).write_text(outcome.plan.to_json())
    story = [
        f"{client}, Kafka {outcome.plan.kafka}, mockbroker {__version__}",
        f"{group.invariant}: in {len(group.seeds)} seeds, the first of them {min(group.seeds)}",
        f"in {group.quiet} of them nothing happened to the cluster",
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
    try:
        return Plan.from_json(path.read_text())
    except PlanError as error:
        raise ValueError(f"{path} is {error}") from None
