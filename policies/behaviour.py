"""A behaviour: a question that the core asks, its named answers, and which release gave which."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..errors import MockBrokerError
from ..nearest import nearest
from ..protocol.releases import Release, parse
from . import own

A = TypeVar("A")


class UnknownPolicyError(MockBrokerError, ValueError):
    """No behaviour, or no answer, of that name."""


@dataclass(frozen=True, eq=False)
class Behaviour(Generic[A]):
    """`answers` are by name; `history` says since which release each answer is given, oldest first.

    `ids` are KAFKA or KIP ids; `fixed` names the answer that a proposed fix gives, if there is one. The core
    asks with the object itself: `policies[undefined_epoch]`.
    """

    name: str
    summary: str
    answers: Mapping[str, A]
    history: tuple[tuple[str, str], ...]
    ids: tuple[str, ...] = ()
    fixed: str | None = None

    def default(self, release: Release) -> str:
        """The name of the answer that brokers of `release` gave."""
        return _held(self.history, release)

    def choose(self, release: Release, overrides: Mapping[str, Any]) -> A:
        """The answer in force: a named one, or a user's own. UnknownPolicyError lists the names."""
        given = overrides[self.name] if self.name in overrides else self.default(release)
        if not isinstance(given, str):
            return self._own(given)
        if given in self.answers:
            return self._named(given)
        brought = own.installed(self.name)
        if given not in brought:
            suggestion = nearest(given, [*self.answers, *brought])
            raise UnknownPolicyError(f"behaviour {self.name!r} has no answer {given!r}{suggestion}")
        return self._own(brought[given].load())

    def _named(self, answer: str) -> A:
        return self.answers[answer]

    def _own(self, answer: Any) -> A:
        if not own.fits(answer, self.answers):
            raise UnknownPolicyError(
                f"behaviour {self.name!r} takes {own.kind_of(self.answers)} as an answer of your own, "
                f"not {answer!r}"
            )
        return own.guarded(self.name, answer)  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class Switch(Behaviour[A]):
    """A behaviour whose two answers need only names: the core is given the name and compares it,
    `policies[election] == "unclean"`. Users may also give the bool that `answers` has for it."""

    answers: Mapping[A, bool]  # type: ignore[assignment]

    def _named(self, answer: str) -> A:
        return answer  # type: ignore[return-value]

    def _own(self, answer: Any) -> A:
        meant = super()._own(answer)
        return next(name for name, value in self.answers.items() if value is meant)


@functools.cache
def _held(history: tuple[tuple[str, str], ...], release: Release) -> str:
    return [answer for since, answer in history if parse(since) <= release][-1]
