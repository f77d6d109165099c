"""A behaviour: one question the core asks, its named answers, and which release gave which."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from ..protocol.releases import Release, parse

A = TypeVar("A")


class UnknownPolicyError(ValueError):
    """No behaviour, or no answer, of that name."""


@dataclass(frozen=True)
class Behaviour(Generic[A]):
    """`answers` by name; `history` says from which release on which answer holds, oldest first.

    `ids` are the KAFKA or KIP ids it stands for; `fixed` names the answer that a proposed fix gives,
    where there is one.
    """

    name: str
    summary: str
    answers: Mapping[str, A]
    history: tuple[tuple[str, str], ...]
    ids: tuple[str, ...] = ()
    fixed: str | None = None

    def default(self, release: Release) -> str:
        """The name of the answer that brokers of `release` gave."""
        return [answer for since, answer in self.history if parse(since) <= release][-1]

    def choose(self, release: Release, overrides: Mapping[str, str]) -> A:
        """The answer in force. UnknownPolicyError names the answers there are."""
        name = overrides.get(self.name) or self.default(release)
        if name not in self.answers:
            raise UnknownPolicyError(
                f"behaviour {self.name!r} has no answer {name!r}: choose one of {', '.join(self.answers)}"
            )
        return self.answers[name]
