"""What was found, as folders: the plan, to be played again, and its story, to be read."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from mockbroker.version import __version__

from .campaign import Found, Result
from .plan import Plan
from .stage import Outcome
from .telling import lines

PLAN: Final = "plan.json"
STORY: Final = "story.txt"


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
    (home / PLAN).write_text(json.dumps(outcome.plan.as_json(), indent=1) + "\n")
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
    return home


def read(path: Path) -> Plan:
    """A plan from its file, or from the folder that has it. ValueError, OSError."""
    path = path / PLAN if path.is_dir() else path
    try:
        return Plan.from_json(json.loads(path.read_text()))
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path} is not a plan of mockbroker hunt: {error}") from None
