"""What befell fifty partitions at once; that report for programs, narrowed, and where nothing is known."""

import json
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.pipeline.errors import PipelineError
from mockbroker.pipeline.narrowing import Wanted, kept, moment
from mockbroker.pipeline.reproduce.reading import read

from .analyzing import FOUND, STORY, TEXT

PARTITIONS = 50
ELECTED = (
    "[2026-11-23 02:47:08,{ms:03}] INFO [QuorumController id=100] UNCLEAN partition change for "
    "orders-{number} with topic ID 5ycPlbpwRQSmO0JQ3NFaig: isr: [] -> [{broker}], leader: -1 -> {broker}, "
    "leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 1 -> 2, partitionEpoch: 2 -> 3 "
    "(org.apache.kafka.controller.ReplicationControlManager)\n"
)
"""A real controller's line: a broker had died as the last one in sync."""


def analyze(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["analyze", *map(str, arguments)])
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("logs")
    lines = (ELECTED.format(ms=each, number=each, broker=2 + each % 2) for each in range(PARTITIONS))
    (made / "controller.log").write_text("".join(lines))
    (made / STORY).write_bytes(TEXT)
    return made


@pytest.fixture(scope="module")
def report(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report")
    status, told = analyze(folder, "--out", out)
    assert status == 0, told
    return out


def incidents(report: Path) -> list[dict[str, Any]]:
    told = json.loads((report / "incidents.json").read_text())
    assert told["schema"] == 2
    found: list[dict[str, Any]] = told["incidents"]
    return found


def test_one_event_that_befalls_fifty_partitions_is_one_incident(report: Path) -> None:
    another, elected = incidents(report)
    assert [another["name"], elected["name"]] == [*FOUND, "unclean-election"]
    victims = [{"topic": "orders", "partition": each} for each in range(PARTITIONS)]
    assert elected["victims"]["partitions"] == victims
    assert len(elected["events"]) == PARTITIONS
    assert "the same happened to partitions orders-1, orders-2, " in elected["story"]
    assert elected["story"].endswith("orders-11 and 38 more")


def test_programs_are_told_what_was_read(report: Path) -> None:
    told = json.loads((report / "incidents.json").read_text())
    assert {Path(each["file"]).name for each in told["read"]["files"]} == {"controller.log", STORY}
    assert "the offsets topic" in told["read"]["missing"]
    assert told["narrowed"] is None
    for number, each in enumerate(told["symptoms"]):
        assert all(number in told["incidents"][incident]["symptoms"] for incident in each["explained_by"])


@pytest.mark.parametrize(
    ("options", "elected"),
    [
        (("--topic", "orders"), True),
        (("--around", "2026-11-23T03:47+01:00"), True),
        (("--around", "2020-01-01", "--timezone", "Europe/Berlin"), False),
    ],
    ids=["topic", "time", "nothing then"],
)
def test_a_narrowed_report_says_the_same(
    options: tuple[str, ...], elected: bool, folder: Path, report: Path, tmp_path: Path
) -> None:
    status, told = analyze(folder, "--out", tmp_path, *options)
    assert status == 0, told
    found = incidents(tmp_path)
    if elected:
        assert found == incidents(report)[1:]
        assert "elsewhere: 1 incident" in told
    else:
        assert (found, "elsewhere: 2 incidents" in told) == ([], True)
        assert "Nothing within half an hour of 2019-12-31 23:00:00.000 UTC" in told
        assert "No known pattern" not in told


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--topic", "order"), "nothing tells of a topic 'order': did you mean 'orders'?"),
        (("--around", "yesterday"), "'yesterday' is not a time: give one such as 2026-03-01T12:30"),
        (("--around", "2031-01-01"), "around 2031-01-01 00:00:00.000 UTC: the files go from "),
    ],
    ids=["topic", "no time", "another time"],
)
def test_what_the_files_know_nothing_of_is_an_error(
    options: tuple[str, ...], says: str, folder: Path, report: Path
) -> None:
    status, told = analyze(folder, *options)
    assert (status, says in told) == (2, True), told
    if says.startswith("nothing"):
        with pytest.raises(PipelineError, match=says.replace("?", r"\?")):
            read(report, Wanted(topic=options[1]))


def test_the_incidents_of_a_group_are_those_whose_symptoms_it_has() -> None:
    orders = {"topic": "orders", "from_ms": 0, "to_ms": 5}
    symptom = {"group": "billing", "topic": "orders", "from_ms": 6, "to_ms": 9}
    found = [[orders], [{**orders, "topic": "other"}]], [(symptom, [0])]
    assert list(kept(Wanted(group="billing"), *found)) == [0]
    assert list(kept(Wanted(group="billing", topic="other"), *found)) == []
    assert list(kept(Wanted(), *found)) == [0, 1]
    assert list(kept(Wanted(around_ms=1_800_008), *found)) == [0]
    assert list(kept(Wanted(around_ms=1_800_008), [[{"topic": "orders"}]], ())) == [0]


def test_a_report_is_narrowed_as_well(report: Path) -> None:
    (one,) = read(report, Wanted(topic="orders"))
    assert (one.name, one.number) == ("unclean-election", 2)
    (one,) = read(report, Wanted(around_ms=moment("2026-11-23T02:40", UTC)))
    assert one.name == "unclean-election"
