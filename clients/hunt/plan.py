"""What is tried with one seed: a cluster, what applications do, and what happens to the cluster meanwhile."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal, Self

from mockbroker.plan_files import Schema
from mockbroker.shrinking import fewer, simpler

Fields = Mapping[str, Any]
Loss = Literal["stop", "kill", "hang"]
"""How a broker goes."""
PLANS: Final = Schema("mockbroker-hunt-plan", 1, "a plan of mockbroker hunt", unversioned=True)
USER: Final = "alice"
"""Who logs in, if users do."""
LOOKS_MS: Final = "metadata.max.age.ms"
"""The setting that says how soon a consumer finds partitions and topics that are new."""
RACK: Final = "client.rack"
AFTER_ERRORS: Final = "after_errors"
"""The field of a user's step that has acts, in the order in which the application prefers them."""


def rack(broker: int) -> str:
    """The name of a broker's rack."""
    return f"rack-{broker}"


@dataclass(frozen=True)
class PlannedTopic:
    name: str
    partitions: int
    config: Mapping[str, str] = field(default_factory=dict)
    replicas: int = 1

    @property
    def compacted(self) -> bool:
        return self.config.get("cleanup.policy") == "compact"


@dataclass(frozen=True)
class Step:
    """Something that is done `after_ms` after the step before it: by an application, or to the cluster.

    A step of the cluster that is `on` something is done `after_ms` after that instead, and holds up no other:
    on the `nth` time (1 if left out) that a `user` makes a `call`, just before the client hears of it; or on
    the first request on which the `fault` acts that another step adds, by the `name` of that step.
    """

    do: str
    after_ms: int = 0
    fields: Fields = field(default_factory=dict)
    on: Fields = field(default_factory=dict)
    name: str = ""

    def __str__(self) -> str:
        named = [f"({self.name})"] if self.name else []
        told = [self.do, *named, *(f"{name}={value}" for name, value in self.fields.items())]
        return " ".join([*told, _on(self.on)] if self.on else told)


def _on(on: Fields) -> str:
    if "fault" in on:
        return f"once ({on['fault']}) has acted"
    return f"when {on['user']} calls {on['call']}, time {on.get('nth', 1)}"


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
    workload: str = ""
    """What kind of plan it is, as `drawing.workloads` names them."""
    security: Fields = field(default_factory=dict)
    """What `mockbroker.Security` takes; empty without TLS and logins."""
    racks: bool = False
    """Whether each broker is a rack of its own, and consumers may read from the replica there (KIP-392)."""
    drawing: int = 1
    """How plans were drawn when this one was: only within one drawing is a seed the same plan."""

    def topic(self, name: str) -> PlannedTopic:
        return next(each for each in self.topics if each.name == name)

    @property
    def size(self) -> int:
        """How many steps it has in all."""
        return len(self.steps) + sum(len(user.steps) for user in self.users)

    def to_json(self) -> str:
        """The text of its file."""
        return PLANS.text(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """PlanError says what is wrong with the text."""
        row, _ = PLANS.read(text)
        return PLANS.built(cls, row)


def looks_for_new(plan: Plan) -> bool:
    """Whether its consumers are to find partitions and topics soon that are added."""
    return any(LOOKS_MS in user.fields.get("consumer", {}) for user in plan.users)


def smaller(plan: Plan) -> Iterable[Plan]:
    """Plans with less in them, the smallest first."""
    for user in plan.users:
        if len(plan.users) > 1:
            yield replace(plan, users=tuple(each for each in plan.users if each is not user))
    yield from (replace(plan, steps=steps) for steps in fewer(plan.steps))
    for users in simpler(plan.users, _fewer_of_one):
        yield replace(plan, users=users)


def _fewer_of_one(user: PlannedUser) -> Iterable[PlannedUser]:
    return (replace(user, steps=steps) for steps in fewer(user.steps))
