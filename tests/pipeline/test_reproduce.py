"""From an incident in a report to files that show it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.pipeline.reproduce.matching import matched


def report(folder: Path, *signatures: str) -> Path:
    story = 'broker 3, which was not in sync, was elected leader of orders-0 """'
    events = [{"finding": {"signature": each, "topic": "orders"}} for each in signatures]
    incidents = [{"name": signatures[0], "story": story, "events": events}] if signatures else []
    (folder / "incidents.json").write_text(json.dumps({"schema": 1, "incidents": incidents}))
    return folder


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
    return result.exit_code, result.output


def test_an_unclean_election_becomes_files_that_fail(tmp_path: Path) -> None:
    incident = report(tmp_path, "unclean-election", "lag-spike", "log-end-fell", "set-back", "set-back")
    out = tmp_path / "out"
    status, told = run(incident, "--out", out)
    assert status == 0, told
    assert "shows 3 of 4" in told
    assert [each.split()[-1] for each in told.splitlines() if "not shown" in each] == ["lag-spike"]
    assert told.count("fails with unclean elections, passes without them") == 2
    assert {each.name for each in out.iterdir()} == {"history.json", "scenario.toml", "test_incident.py"}


@pytest.mark.parametrize(
    ("signatures", "says"),
    [((), "no incident"), (("slow-load",), "known is unclean-election")],
    ids=["no incident", "another kind"],
)
def test_what_cannot_be_reproduced_is_said(tmp_path: Path, signatures: tuple[str, ...], says: str) -> None:
    out = tmp_path / "out"
    status, told = run(report(tmp_path, *signatures), "--out", out)
    assert (status, out.exists()) == (2, False)
    assert says in told


def test_a_longest_part_in_order_is_matched() -> None:
    assert matched("abc", "bxc") == {1, 2}
    assert matched("abc", "cab") == {0, 1}
    assert matched("abc", "abc") == {0, 1, 2}
    assert matched("abc", "") == set()
