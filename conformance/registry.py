"""Questions: short scenarios that yield labelled answers, registered by API."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ..rig.scene import Scene

__all__ = ["Question", "Scenario", "Scene", "Steps", "about", "registered"]

Steps = Iterator[tuple[str, Any]]
Scenario = Callable[[Scene], Steps]


@dataclass(frozen=True)
class Question:
    """One scenario about one API, asked of a cluster of `brokers` brokers."""

    api: str
    name: str
    scenario: Scenario
    brokers: int
    since: int
    until: int
    at: Collection[int] | None
    newest_only: bool
    needs: tuple[str, int] | None = None
    """Another API, and a version of it, without which the question can't be asked."""

    @property
    def id(self) -> str:
        return f"{self.api}.{self.name}"

    @property
    def doc(self) -> str:
        return (self.scenario.__doc__ or "").strip()

    def versions(self, supported: Collection[int]) -> list[int]:
        """The versions to ask, of those that broker and client both support."""
        wanted = [
            version
            for version in sorted(supported)
            if self.since <= version <= self.until and (self.at is None or version in self.at)
        ]
        return wanted[-1:] if self.newest_only else wanted


_QUESTIONS: dict[str, Question] = {}


def about(api: str, *, needs: tuple[str, int] | None = None) -> Callable[..., Callable[[Scenario], Scenario]]:
    """The decorator that registers questions about `api`; its arguments choose versions and cluster. Clusters
    without what they need are not asked."""

    def question(
        *,
        since: int = 0,
        until: int = 99,
        at: Collection[int] | None = None,
        newest_only: bool = False,
        brokers: int = 1,
    ) -> Callable[[Scenario], Scenario]:
        def register(scenario: Scenario) -> Scenario:
            made = Question(api, scenario.__name__, scenario, brokers, since, until, at, newest_only, needs)
            if made.id in _QUESTIONS:
                raise ValueError(f"two questions are named {made.id}")
            _QUESTIONS[made.id] = made
            return scenario

        return register

    return question


def registered() -> list[Question]:
    """Every question of the modules that were imported so far, in that order."""
    return list(_QUESTIONS.values())
