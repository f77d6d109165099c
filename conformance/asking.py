"""Asks a cluster the questions, and compares its answers with the recorded ones."""

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..rig import telemetry_receiver
from ..rig.network import SOCKETS, Network
from ..rig.scene import LacksApiError, Scene, Target
from . import recordings
from .questions import all_questions
from .registry import Question

Steps = list[list[Any]]
_QUESTIONS = Path(__file__).parent / "questions"
FAILED = "<failed>"
_TOPICS_KEPT = 100


@dataclass(frozen=True)
class Result:
    """One question at one version; `got` is None when the asked cluster lacks an API or version that it
    takes, and `lacks` says which ("Produce v9")."""

    question: str
    version: int
    equal: bool
    expected: Steps
    got: Steps | None
    lacks: str | None = None

    @property
    def supported(self) -> bool:
        return self.got is not None


def answers_to(target: Target, question: Question, version: int) -> Steps:
    """The normalised answers to one question; if the scenario was interrupted, the last step says so.
    LacksApiError."""
    steps: Steps = []
    scene = Scene(target, question.api, version)
    try:
        for label, answer in question.scenario(scene):
            steps.append([label, scene.normaliser.answer(answer, question.api)])
    except LacksApiError:
        raise
    except Exception as error:
        steps.append([FAILED, scene.normaliser.answer(f"{type(error).__name__}: {error}{_place(error)}")])
    finally:
        scene.close()
    target.delete_topics(at_least=_TOPICS_KEPT)
    return steps


def _place(error: Exception) -> str:
    """The line of the question at which it broke off, if it was in one."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if (file := Path(frame.filename)).parent == _QUESTIONS:
            return f" ({file.name}, line {frame.lineno}: {frame.line})"
    return ""


def compare(target: Target, question: Question, version: int, expected: Steps) -> Result:
    """Ask one question, and compare the answers with the recorded ones."""
    try:
        if version not in target.supported(question.api):
            raise LacksApiError(target.lacking(question.api, version))
        got = answers_to(target, question, version)
    except LacksApiError as error:
        return Result(question.id, version, False, expected, None, str(error))
    return Result(question.id, version, got == expected, expected, got)


def recorded(
    release: str, only: str | None = None, api: str | None = None
) -> Iterator[tuple[Question, int, Steps]]:
    """Every recorded question of `release`, or of one API, in each version, with its answers."""
    loaded: dict[str, recordings.Recorded] = {}
    for question in all_questions(only):
        if api not in (None, question.api):
            continue
        if question.api not in loaded:
            loaded[question.api] = recordings.load(release, question.api)
        for version, steps in loaded[question.api].get(question.name, {}).items():
            yield question, version, steps


def _asked(
    target: Target, release: str, only: str | None, api: str | None = None
) -> Iterator[tuple[Question, int, Steps]]:
    for question, version, steps in recorded(release, only, api):
        if question.brokers != len(target.nodes):
            continue
        # Whether brokers take metrics is up to their configuration.
        if question.api not in telemetry_receiver.APIS or question.api in target.versions:
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
        result = compare(target, question, version, expected)
        results.append(result)
        report(result)
    target.delete_topics()
    return results
