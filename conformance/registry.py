"""Questions: short scenarios that yield labelled answers."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from inspect import isfunction
from types import ModuleType
from typing import Any

from ..rig.scene import Scene

__all__ = ["Question", "Scenario", "Scene", "Steps", "about", "question", "questions_of"]

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
    """The decorator of questions about `api`; its arguments choose versions and cluster. Clusters without
    what they need are not asked."""

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


def question(**how: Any) -> Callable[[Scenario], Scenario]:
    """The decorator of questions about the API that their module is named after, with the arguments of
    those that `about` gives."""

    def register(scenario: Scenario) -> Scenario:
        return about(scenario.__module__.rpartition(".")[2])(**how)(scenario)

    return register


def questions_of(module: ModuleType) -> list[Question]:
    """In their order. A function that takes a scene alone and gives steps is one about the API that the
    module is named after, if no decorator says otherwise and its name begins with no underscore."""
    asked = {each.scenario for each in _QUESTIONS.values()}
    own = [each for each in vars(module).values() if _may_be_asked(each, module)]
    for scenario in (each for each in own if each not in asked and each.__name__[0] != "_"):
        question()(scenario)
    found = [each for each in _QUESTIONS.values() if each.scenario.__module__ == module.__name__]
    order = {scenario: number for number, scenario in enumerate(own)}
    return sorted(found, key=lambda each: order.get(each.scenario, len(order)))


def _may_be_asked(value: Any, module: ModuleType) -> bool:
    if not isfunction(value) or value.__module__ != module.__name__:
        return False
    return list(value.__annotations__.values()) == [Scene, Steps]
