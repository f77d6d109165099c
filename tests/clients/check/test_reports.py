"""Reports of `mockbroker check` as files, from runs that are made up."""

import io
import json
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from mockbroker.clients.check.cells import Cell
from mockbroker.clients.check.hearing import Heard
from mockbroker.clients.check.report import Report
from mockbroker.clients.check.reports import cards, data, junit, page, table
from mockbroker.clients.check.scenarios import SCENARIOS, STORIES
from mockbroker.clients.check.verdicts import Judged, Verdict

EVIL = "<script>alert('\x00 | ` * _')</script>"


def judged(
    name: str, verdict: Verdict, fixed: bool = True, policies: Mapping[str, str] | None = None
) -> Judged:
    chosen = policies or {}
    cell = Cell(SCENARIOS[name], "4.4", fixed, chosen, one_of_many=fixed and bool(chosen))
    return Judged(cell, verdict, times=2, runs=3, decided=frozenset({"compaction"}), seconds=1.25)


WRONG = judged("retention", Verdict("read-again", ("read-again",), (EVIL,), ("0 a opens", EVIL)))
KNOWN = judged("cut-off-leader", Verdict("reset-without-loss", ("reset-without-loss",), ("begins at 0",)))
TOLD = judged(
    "password-wrong",
    Verdict(
        "error AuthError",
        heard=(
            Heard("producer", "AuthError", "127.0.0.1:4711: wrong", 1_240, anew=True),
            Heard("a", "", "", 10_000, anew=False),
        ),
    ),
)
RUNS = (
    WRONG,
    KNOWN,
    judged("load-stops", Verdict("right"), fixed=False),
    judged(
        "load-stops", Verdict("read-again", ("read-again",)), fixed=False, policies={"offsets-load": "stops"}
    ),
    judged("transactions", Verdict("not supported", (), ("no capability",))),
    judged(
        "rebalance", Verdict("error FENCED", (), ("fenced",)), policies={"session-timeout-check": "range"}
    ),
)


@pytest.fixture
def report() -> Report:
    return Report("mine", "my client 1.0", ("--client-command", "my driver"), RUNS)


def test_what_tells_against_a_client(report: Report) -> None:
    assert report.unexpected == [WRONG]
    assert [each.cell.scenario.name for each in report.shown("LinkedIn's first rewind")] == ["load-stops"]
    assert "compaction" not in report.unmet()
    assert "offsets-load" in report.unmet()


def test_junit(report: Report, tmp_path: Path) -> None:
    junit.write(tmp_path / "junit.xml", [report])
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("6", "1", "1")
    cases = {(each.get("classname"), each.get("name")): each for each in suite}
    assert len(cases) == len(RUNS)
    wrong = cases["my client 1.0.retention", "4.4, fixed"]
    failure = wrong.find("failure")
    assert failure is not None
    assert failure.get("message") == "read-again (2 of 3)"
    assert "alert" in (failure.text or "")
    chosen = cases["my client 1.0.load-stops", "4.4 [offsets-load=stops]"]
    assert chosen.find("failure") is None
    assert "--policy offsets-load=stops" in (chosen.findtext("system-out") or "")


def test_json(report: Report, tmp_path: Path) -> None:
    data.write(tmp_path / "report.json", [report])
    ((first,),) = [each["runs"][:1] for each in json.loads((tmp_path / "report.json").read_text())]
    assert (first["scenario"], first["verdict"], first["unexpected"]) == ("retention", "read-again", True)
    assert (first["times"], first["runs"], first["evidence"]) == (2, 3, [EVIL])
    assert first["command"].startswith("mockbroker check --client-command 'my driver' --only retention")


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not any(name in ("src", "href") for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_needs_nothing_else_and_shows_text_as_text(report: Report, tmp_path: Path) -> None:
    page.write(tmp_path / "report.html", [report])
    tags = _Tags()
    tags.feed((tmp_path / "report.html").read_text())
    assert "script" not in tags.seen
    assert "<script>alert(" in tags.text
    assert "In one run something was violated though brokers answered rightly." in tags.text
    assert "session-timeout-check=range" in tags.text


def test_cards(report: Report, tmp_path: Path) -> None:
    cards.write(tmp_path, [report])
    index, card = (tmp_path / "README.md").read_text(), (tmp_path / "mine.md").read_text()
    (row,) = [line for line in index.splitlines() if line.startswith("| [my client 1.0](mine.md)")]
    cells = [each.strip() for each in row.strip("|").split("|")]
    assert len(cells) == len(STORIES) + 2
    assert cells[1 + STORIES.index("LinkedIn's first rewind")] == "read-again: 1"
    assert cells[-1] == "retention"
    assert all(f"**{name}**" in index for name in SCENARIOS)
    assert "\\<script>" in card
    assert "\x00" not in card
    assert card.count("<script>") == card.count("\\<script>")
    assert "**read-again (2 of 3)**" in card
    rows = [line for line in card.splitlines() if line.startswith("| ") and "retention" in line]
    assert rows
    assert {line.replace("\\|", "").count("|") for line in rows} == {len(report.columns) + 2}


def test_what_was_played_before_stays_in_a_card(report: Report, tmp_path: Path) -> None:
    """Only what was played anew is replaced, and cards of other clients stay in the table."""
    cards.write(tmp_path, [report])
    before = (tmp_path / "mine.md").read_text(), (tmp_path / "README.md").read_text()
    cards.write(tmp_path, [replace(report, judged=(KNOWN,))])
    assert ((tmp_path / "mine.md").read_text(), (tmp_path / "README.md").read_text()) == before
    other = Report("yours", "your client 2.0", ("--client", "yours"), (TOLD,))
    cards.write(tmp_path, [other])
    assert (tmp_path / "mine.md").read_text() == before[0]
    index = (tmp_path / "README.md").read_text()
    assert "| [my client 1.0](mine.md) |" in index
    assert "| [your client 2.0](yours.md) | 1.2 s / – |" in index
    again = judged("retention", Verdict("right"))
    cards.write(tmp_path, [replace(report, judged=(again,))])
    assert "**read-again" not in (tmp_path / "mine.md").read_text()
    assert "\n| [retention](README.md#the-scenarios) | right (2 of 3) |" in (tmp_path / "mine.md").read_text()


def test_runs_of_another_version_of_the_client_are_forgotten(report: Report, tmp_path: Path) -> None:
    cards.write(tmp_path, [report])
    cards.write(tmp_path, [replace(report, client="my client 1.1", judged=(TOLD,))])
    assert "retention" not in (tmp_path / "mine.md").read_text()
    assert "my client 1.0" not in (tmp_path / "README.md").read_text()


def test_runs_that_can_not_be_read(report: Report, tmp_path: Path) -> None:
    cards.write(tmp_path, [report])
    for text in ("[", "{}", '{"client": "mine", "options": [], "decided": [], "runs": [1]}'):
        (tmp_path / "data" / "mine.json").write_text(text)
        with pytest.raises(ValueError, match=r"mine.json has no runs of `check` .*: remove it"):
            cards.write(tmp_path, [report])
        assert (tmp_path / "data" / "mine.json").read_text() == text


def test_a_card_leads_to_what_is_wrong_with_its_client(report: Report, tmp_path: Path) -> None:
    (tmp_path / "found.md").write_text("# Defects\n\n### mine\n")
    cards.write(tmp_path / "cards", [report])
    assert "[What is wrong with it](../found.md#mine)" in (tmp_path / "cards" / "mine.md").read_text()
    (tmp_path / "found.md").write_text("# Defects\n\n### yours\n")
    cards.write(tmp_path / "cards", [report])
    assert "found.md" not in (tmp_path / "cards" / "mine.md").read_text()


def test_the_table_of_a_terminal(report: Report) -> None:
    console = Console(width=120, record=True, file=io.StringIO())
    for each in table.tables(report):
        console.print(each)
    shown = console.export_text()
    assert "read-again (2 of 3)" in shown
    assert "0 other answers changed nothing" in shown


def test_what_users_are_told_has_a_table_of_its_own(tmp_path: Path) -> None:
    report = Report("mine", "my client 1.0", (), (WRONG, TOLD))
    cards.write(tmp_path, [report])
    index, card = (tmp_path / "README.md").read_text(), (tmp_path / "mine.md").read_text()
    (row,) = [line for line in card.splitlines() if line.startswith("| [password-wrong]")]
    said = "AuthError after 1.2 s: 127.0.0.1:PORT: wrong; then it is opened anew | nothing in 10.0 s |"
    assert row == f"| [password-wrong](README.md#the-scenarios) | error AuthError (2 of 3) | {said}"
    assert "| [my client 1.0](mine.md) | 1.2 s / – |" in index
    console = Console(width=120, record=True, file=io.StringIO())
    for each in table.tables(report):
        console.print(each)
    assert "nothing in 10.0 s" in console.export_text()
