"""Each defect is still there in the release of the client that is installed."""

import re

import pytest

from found.finding import Finding, findings
from found.page import PAGE, page
from found.playing import PlayError, no_longer, on_mocks

from ..needs import ADDONS, BUILT_FOR_MINUTES
from ..turns import in_turn

_ATTEMPTS = {
    "kafka-python-commit-without-records": 3,
    "librdkafka-crash-at-a-refused-login": 3,
    "librdkafka-send-offsets-never-returns": 3,
}
"""Of programs that do not print the same each time."""
_NEEDS = {
    "go": ("go",),
    "java": ("java", "javac", "mvn"),
    "javascript": ("node", "npm"),
    "rust": ("cargo",),
}


def _marks(finding: Finding) -> list[pytest.MarkDecorator]:
    # Clients in other languages are fetched for the first run.
    needs = _NEEDS.get(finding.language, ())
    marks = [pytest.mark.needs(*needs), pytest.mark.timeout(900)] if needs else []
    built = "cargo" in needs or finding.subject in ADDONS
    return [*marks, BUILT_FOR_MINUTES] if built else marks


@pytest.mark.long
@pytest.mark.parametrize(
    "finding", [pytest.param(each, id=each.name, marks=_marks(each)) for each in in_turn(findings(), 3)]
)
def test_the_client_still_has_the_defect(finding: Finding) -> None:
    printed = ""
    for _ in range(_ATTEMPTS.get(finding.name, 1)):
        try:
            printed = on_mocks(finding)
        except PlayError as error:
            printed = str(error)
        if printed == finding.expected:
            return
    pytest.fail(no_longer(finding, printed))


@pytest.mark.parametrize("finding", findings(), ids=lambda finding: finding.name)
def test_the_program_is_short_enough_for_a_report(finding: Finding) -> None:
    assert len(finding.program.read_text().splitlines()) < 40


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run `make docs`"


def test_the_readme_has_their_number() -> None:
    readme = (PAGE.parents[1] / "README.md").read_text()
    told = re.search(r"\[(\d+) defects of released clients\]", readme)
    assert told is not None
    assert int(told[1]) == sum(each.client is not None for each in findings())
