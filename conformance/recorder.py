"""The answers of real brokers to all questions, asked twice: a story each for the recorder of stories."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from mockbroker.errors import MockBrokerError

from ..rig import telemetry_receiver
from ..rig.real_broker import RealCluster
from ..rig.scene import LacksApiError, Target
from ..rig.setup import RELEASES
from ..rig.stories import Tell
from . import recordings
from .asking import FAILED, answers_to
from .diff import lines
from .questions import all_questions
from .registry import Question

_WIDEST: Final = 400
_LINES: Final = 5


class UnstableAnswersError(MockBrokerError, AssertionError):
    """Answers that were recorded, but were others the second time, or broke off."""


class RecordedQuestions:
    """A `rig.stories.Recordable`. Clusters have as many brokers as a question says; those for telemetry are
    apart."""

    releases = RELEASES

    def about(self) -> Mapping[str, str]:
        return {each.id: each.doc for each in all_questions()}

    def sharing(self, names: Sequence[str]) -> list[list[str]]:
        found: dict[tuple[int, bool], list[str]] = {}
        for each in _of(names):
            found.setdefault((each.brokers, _telemetry(each)), []).append(each.id)
        return [found[key] for key in sorted(found)]

    def record(self, release: str, names: Sequence[str], tell: Tell, out: Path | None) -> None:
        """UnstableAnswersError, after all is written."""
        questions = _of(names)
        with RealCluster(release, questions[0].brokers, telemetry=_telemetry(questions[0])) as cluster:
            first, second = (_ask(cluster.bootstrap_servers, questions, tell) for _ in range(2))
        unstable = 0
        for api, answers in first.items():
            for name, versions in answers.items():
                for version, steps in versions.items():
                    again = second[api][name][version]
                    if steps != again or _broken(steps):
                        unstable += 1
                        tell(f"{'broke off' if _broken(steps) else 'unstable'} {api}.{name} v{version}")
                        for line in lines(steps, again)[:_LINES]:
                            tell(f"    {line[:_WIDEST]}")
            order = [each.name for each in all_questions() if each.api == api]
            merged = recordings.load(release, api, out) | answers
            kept = {name: merged[name] for name in order if name in merged}
            file = recordings.save(release, api, kept, out)
            tell(f"wrote {len(answers)} questions to {file.parent.name}/{file.name}")
        if unstable:
            raise UnstableAnswersError(f"{unstable} answers are not stable")


STORIES: Final = RecordedQuestions()


def _of(names: Sequence[str]) -> list[Question]:
    wanted = set(names)
    return [each for each in all_questions() if each.id in wanted]


def _telemetry(question: Question) -> bool:
    return question.api in telemetry_receiver.APIS


def _broken(steps: recordings.Steps) -> bool:
    return bool(steps) and steps[-1][0] == FAILED


def _ask(bootstrap: str, questions: Sequence[Question], tell: Tell) -> dict[str, recordings.Recorded]:
    """The answers, by API; none to questions that need what brokers lack."""
    target = Target.connect(bootstrap)
    found: dict[str, recordings.Recorded] = {}
    for question in questions:
        if question.needs is not None and question.needs[1] not in target.supported(question.needs[0]):
            continue
        for version in question.versions(target.supported(question.api)):
            tell(f"asks {question.id} v{version}", passing=True)
            try:
                steps = answers_to(target, question, version)
            except LacksApiError as error:
                steps = [[FAILED, f"the cluster lacks {error}"]]
            found.setdefault(question.api, {}).setdefault(question.name, {})[version] = steps
    target.delete_topics()
    return found
