"""A scenario: a cluster, and a story that is told with applications of hunt."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ..hunt.plan import Plan, PlannedTopic, PlannedUser
from .scene import Scene

SEED: Final = 1


@dataclass(frozen=True)
class Scenario:
    """`tell` says what happens; its docstring is what the report says.

    `source` is a KAFKA or KIP id, or where it was told; `stories` are those of the five that it belongs to.
    `variants` are answers of behaviours to play it with, by label, besides those of the release. `open_` are
    the invariants that clients violate under the right answers too, since no broker has a fix. `needs` are
    capabilities of drivers, or settings that they take.
    """

    name: str
    title: str
    tell: Callable[[Scene], Awaitable[None]]
    users: Sequence[PlannedUser]
    topics: Sequence[PlannedTopic] = (PlannedTopic("t", 1),)
    source: str = ""
    stories: Sequence[str] = ()
    brokers: int = 3
    config: Mapping[str, str] = field(default_factory=dict)
    security: Mapping[str, Any] = field(default_factory=dict)
    needs: frozenset[str] = frozenset()
    variants: Sequence[Mapping[str, str]] = ()
    open_: frozenset[str] = frozenset()
    since: str = ""
    """The first release that it is played with; empty if it is played with all."""
    is_about_access: bool = False
    """Whether it is about what users are told of logins, certificates and ACLs. As no release has changed
    that, it is played only with the last one, with every fix."""

    @property
    def what_happens(self) -> str:
        return " ".join((self.tell.__doc__ or "").split())

    def plan(self, kafka: str, fixed: bool, policies: Mapping[str, str]) -> Plan:
        return Plan(
            SEED,
            kafka,
            self.brokers,
            tuple(replace(each, replicas=self.brokers) for each in self.topics),
            tuple(self.users),
            config={"default.replication.factor": str(self.brokers), **self.config},
            policies=policies,
            fixed=fixed,
            security=self.security,
        )


def scenario(
    name: str, title: str, users: Sequence[PlannedUser], **given: Any
) -> Callable[[Callable[[Scene], Awaitable[None]]], Scenario]:
    """Makes a function a scenario; `given` are further fields of it."""
    return lambda tell: Scenario(name, title, tell, users, **given)


def member(name: str, **fields: object) -> PlannedUser:
    """A member of the group `g`, which reads `t` from the earliest offset unless told otherwise."""
    return PlannedUser(name, "member", fields={"topics": ["t"], "group": "g", "commits": "offsets", **fields})


def sharing(name: str) -> PlannedUser:
    """A member of the share group `g`, which reads `t` and says of each record what became of it."""
    consumer = {"share.acknowledgement.mode": "explicit"}
    return PlannedUser(name, "share-member", fields={"shares": ["t"], "group": "g", "consumer": consumer})


def producer(name: str = "producer", **config: object) -> PlannedUser:
    """An idempotent producer."""
    return PlannedUser(name, "producer", config={"acks": "all", "enable.idempotence": True, **config})


def transactional(name: str = "transactions") -> PlannedUser:
    return PlannedUser(
        name,
        "transactions",
        config={"acks": "all", "transactional.id": name, "transaction.timeout.ms": 60_000},
    )
