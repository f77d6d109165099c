"""What is tried with one seed: a cluster, what applications do, and what happens to the cluster meanwhile."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Self

Fields = Mapping[str, Any]
SENDS: Final = frozenset({"send"})


@dataclass(frozen=True)
class PlannedTopic:
    name: str
    partitions: int
    config: Mapping[str, str] = field(default_factory=dict)

    @property
    def compacted(self) -> bool:
        return self.config.get("cleanup.policy") == "compact"


@dataclass(frozen=True)
class Step:
    """Something that is done `after_ms` after the step before it: by an application, or to the cluster."""

    do: str
    after_ms: int = 0
    fields: Fields = field(default_factory=dict)

    def __str__(self) -> str:
        return " ".join([self.do, *(f"{name}={value}" for name, value in self.fields.items())])


@dataclass(frozen=True)
class PlannedUser:
    """An application: `kind` names one of `users.KINDS`; `config` has the names of Kafka's Java client."""

    name: str
    kind: str
    config: Fields = field(default_factory=dict)
    fields: Fields = field(default_factory=dict)
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Plan:
    """All that a run is made of. The same plan does the same, but for what clients and threads do in time."""

    seed: int
    kafka: str
    brokers: int
    topics: tuple[PlannedTopic, ...]
    users: tuple[PlannedUser, ...]
    steps: tuple[Step, ...] = ()
    config: Mapping[str, str] = field(default_factory=dict)
    policies: Mapping[str, str] = field(default_factory=dict)
    """Behaviours that were chosen, by name."""
    fixed: bool = True
    """Whether brokers have every fix, whatever their release."""

    def topic(self, name: str) -> PlannedTopic:
        return next(each for each in self.topics if each.name == name)

    @property
    def size(self) -> int:
        """How many steps it has in all."""
        return len(self.steps) + sum(len(user.steps) for user in self.users)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Self:
        """KeyError, TypeError if it is none."""
        return cls(
            **{
                **read,
                "topics": tuple(PlannedTopic(**each) for each in read["topics"]),
                "users": tuple(
                    PlannedUser(**{**each, "steps": _steps(each["steps"])}) for each in read["users"]
                ),
                "steps": _steps(read["steps"]),
            }
        )


def _steps(read: Iterable[Mapping[str, Any]]) -> tuple[Step, ...]:
    return tuple(Step(**each) for each in read)


def smaller(plan: Plan) -> Iterable[Plan]:
    """Plans with less in them, the smallest first."""
    for user in plan.users:
        if len(plan.users) > 1:
            yield replace(plan, users=tuple(each for each in plan.users if each is not user))
    yield from (replace(plan, steps=steps) for steps in _fewer(plan.steps))
    for user in plan.users:
        for steps in _fewer(user.steps):
            made = replace(user, steps=steps)
            yield replace(plan, users=tuple(made if each is user else each for each in plan.users))


def _fewer(steps: tuple[Step, ...]) -> Iterable[tuple[Step, ...]]:
    """Halves of the steps, quarters, and so on, left out one at a time."""
    size = len(steps)
    while size:
        for begin in range(0, len(steps), size):
            yield steps[:begin] + steps[begin + size :]
        size //= 2
