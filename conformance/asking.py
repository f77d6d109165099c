"""Asks a cluster the questions, and compares its answers with the recorded ones."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from . import recordings
from .network import SOCKETS, Network
from .questions import all_questions
from .registry import Question
from .scene import Scene, Target

Steps = list[list[Any]]
FAILED = "<failed>"
_TOPICS_KEPT = 100


@dataclass(frozen=True)
class Result:
    """One question at one version; `got` is None when the asked cluster lacks that version."""

    question: str
    version: int
    equal: bool
    expected: Steps
    got: Steps | None

    @property
    def supported(self) -> bool:
        return self.got is not None


def answers_to(target: Target, question: Question, version: int) -> Steps:
    """The normalised answers to one question; if the scenario was interrupted, the last step says so."""
    steps: Steps = []
    scene = Scene(target, question.api, version)
    try:
        for label, answer in question.scenario(scene):
            steps.append([label, scene.normaliser.answer(answer, question.api)])
    except Exception as error:
        steps.append([FAILED, scene.normaliser.answer(f"{type(error).__name__}: {error}")])
    finally:
        scene.close()
    target.delete_topics(at_least=_TOPICS_KEPT)
    return steps


def _expected(release: str, only: str | None) -> Iterator[tuple[Question, int, Steps]]:
    loaded: dict[str, recordings.Recorded] = {}
    for question in all_questions(only):
        if question.api not in loaded:
            loaded[question.api] = recordings.load(release, question.api)
        for version, steps in loaded[question.api].get(question.name, {}).items():
            yield question, version, steps


def _asked(
    target: Target, release: str, only: str | None, api: str | None = None
) -> Iterator[tuple[Question, int, Steps]]:
    for question, version, steps in _expected(release, only):
        if question.brokers == len(target.nodes) and api in (None, question.api):
            yield question, version, steps


def count(target: Target, release: str, only: str | None = None) -> int:
    """How many questions `ask` would ask, counting each version of each."""
    return sum(1 for _ in _asked(target, release, only))


def ask(
    bootstrap: str,
    release: str,
    only: str | None = None,
    *,
    api: str | None = None,
    timeout: float = 10.0,
    network: Network = SOCKETS,
    report: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Ask the cluster at `bootstrap` every question that was recorded of `release` for a cluster of that
    size.

    `only` is a part of a question's id, or a glob; `api` the snake-case name of one API.
    """
    target = Target.connect(bootstrap, timeout, network)
    results = []
    for question, version, expected in _asked(target, recordings.nearest_release(release), only, api):
        got = answers_to(target, question, version) if version in target.supported(question.api) else None
        result = Result(question.id, version, got == expected, expected, got)
        results.append(result)
        report(result)
    target.delete_topics()
    return results


def record(
    bootstrap: str,
    only: str | None = None,
    *,
    report: Callable[[str, int], None] = lambda question, version: None,
) -> dict[str, recordings.Recorded]:
    """The answers of the cluster at `bootstrap`, by API."""
    target = Target.connect(bootstrap)
    found: dict[str, recordings.Recorded] = {}
    for question in all_questions(only):
        if question.brokers != len(target.nodes):
            continue
        for version in question.versions(target.supported(question.api)):
            report(question.id, version)
            steps = answers_to(target, question, version)
            found.setdefault(question.api, {}).setdefault(question.name, {})[version] = steps
    target.delete_topics()
    return found
