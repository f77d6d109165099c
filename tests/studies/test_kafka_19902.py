"""The page about KAFKA-19902 is the one that the recorded outcomes give."""

from pathlib import Path

import pytest

from studies.clients import Commit
from studies.kafka_19902.case import Outcome
from studies.kafka_19902.mechanisms import MECHANISMS
from studies.kafka_19902.page import page
from studies.kafka_19902.plan import RESETS, cases
from studies.kafka_19902.results import Results, told

PAGE = Path(__file__).parents[2] / "docs" / "kafka-19902.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(Results()), "run `python -m studies.kafka_19902 --write …`"


def test_every_mechanism_is_recorded_with_every_reset() -> None:
    outcomes = Results().outcomes
    assert outcomes
    for client, mechanisms in outcomes.items():
        assert mechanisms.keys() == MECHANISMS.keys(), client
        for variants in mechanisms.values():
            assert all(row.keys() == set(RESETS) for row in variants.values())


def test_results_survive_being_saved(tmp_path: Path) -> None:
    results, copy = Results(), Results(tmp_path / "results.json")
    copy.outcomes, copy.logs = results.outcomes, results.logs
    copy.save()
    again = Results(tmp_path / "results.json")
    assert (again.outcomes, again.logs) == (results.outcomes, results.logs)


def outcome(**differently: object) -> Outcome:
    fields = {"again": 0, "lost": 0, "reset": False, "raised": None, "stuck": False, "first": 150}
    return Outcome(position=(150, 1), answer=None, **{**fields, **differently})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (outcome(), "goes on"),
        (outcome(lost=50), "goes on, 50 lost"),
        (outcome(first=100), "set back to 100"),
        (outcome(first=0, reset=True, again=100, lost=2), "resets to 0, 100 again, 2 lost"),
        (outcome(first=None, raised="LogTruncationException", lost=9), "raises LogTruncationException"),
        (outcome(first=None, stuck=True, lost=9), "reads nothing"),
    ],
)
def test_an_outcome_in_words(found: Outcome, words: str) -> None:
    assert told(found) == words


def test_a_case_is_told_apart_by_its_variant_and_reset() -> None:
    for mechanism in MECHANISMS.values():
        planned = list(cases(mechanism, tuple(Commit)))
        assert len({(case.variant, case.reset) for case in planned}) == len(planned)
        assert [case for case in planned if case.plain] == [
            case for case in planned if " " not in case.variant
        ]
