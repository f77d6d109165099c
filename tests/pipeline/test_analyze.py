"""`mockbroker analyze`, from files to the report: known behaviours are found, and fixed ones are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mockbroker.cli.app import app
from mockbroker.policies import CATALOGUE

from .readers.reading import STORIES

Finding = dict[str, Any]


@pytest.fixture(scope="module")
def result(given: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    out = tmp_path_factory.mktemp("out")
    ended = CliRunner().invoke(app, ["analyze", str(given), "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    return ended, out


@pytest.fixture(scope="module")
def findings(result: tuple[Result, Path]) -> list[Finding]:
    import pyarrow.parquet as pq

    found: list[Finding] = pq.read_table(result[1] / "findings.parquet").to_pylist()
    return found


def of(findings: list[Finding], file: str) -> dict[str, Finding]:
    """By signature, those with evidence in a file."""
    return {
        each["signature"]: each
        for each in findings
        if any(Path(row["file"]).name == file for row in each["evidence"])
    }


def test_producers_that_were_forgotten(findings: list[Finding]) -> None:
    (one,) = of(findings, "forgotten.jsonl").values()
    assert (one["signature"], one["confidence"]) == ("spurious-sequence-error", "certain")
    assert "after offset 2 was acknowledged; the log starts at 3" in one["summary"]
    assert of(findings, "remembered.jsonl") == {}


def test_a_log_start_past_the_followers_log(findings: list[Finding]) -> None:
    (one,) = of(findings, "late-start.jsonl").values()
    assert (one["signature"], one["confidence"]) == ("log-start-past-log-end", "certain")
    assert "KAFKA-7104" in one["ids"]
    assert of(findings, "start-in-time.jsonl") == {}


def test_a_leader_that_was_cut_off(findings: list[Finding]) -> None:
    found = of(findings, "cut-off.jsonl")
    gap = found["truncation-gap"]
    assert (gap["confidence"], gap["broker"]) == ("certain", 2)
    assert "broker 2 went on as leader, cut off from the others, while broker 3 led already" in gap["summary"]
    assert found["reset-to-earliest"]["group"] == "group of cut-off"


def test_an_epoch_that_the_leader_has_not_entered(findings: list[Finding]) -> None:
    assert "log-end-fell" in of(findings, "not-entered.jsonl")
    assert "log-end-fell" in of(findings, "told.jsonl")


def test_a_quiet_day(findings: list[Finding]) -> None:
    assert of(findings, "quiet.jsonl") == {}


def test_the_log_lines_of_kafka_19902(findings: list[Finding]) -> None:
    for file in ("kafka-19902-timeline.txt", "kafka-19902-table.txt", "kafka-19902-broker.log"):
        gap = of(findings, file)["truncation-gap"]
        assert "KAFKA-19902" in gap["ids"]
        assert (gap["broker"], "108 above the 30795645" in gap["summary"]) == (10, True)
        assert "a possible cause: broker 10 went on as leader, cut off from the others" in gap["summary"]
        assert "while broker 11 led already" in gap["summary"]


def test_the_log_lines_of_kafka_7104(findings: list[Finding]) -> None:
    one = of(findings, "kafka-7104.log")["log-start-past-log-end"]
    assert "log start offset 116753, past its own high watermark 116619" in one["summary"]


def test_the_offsets_topics_of_linkedins_rewinds(findings: list[Finding]) -> None:
    """Of an offset that an operator reset, which looks much the same, nothing is told."""
    own = {"mirror", "other-mirror", "reset-by-hand"}
    rewind, deleted = sorted(
        (each for each in findings if each["group"] in own), key=lambda each: each["group"]
    )
    assert (rewind["signature"], rewind["confidence"]) == ("offset-rewind", "likely")
    assert "committed 6812400 for orders-0" in rewind["summary"]
    assert "2188100 behind the 9000500" in rewind["summary"]
    assert "near its commit of 6811737" in rewind["summary"]
    assert "an earlier record of the topic can't be read" in rewind["why"]
    assert len(rewind["evidence"]) == 4
    assert (deleted["signature"], deleted["confidence"]) == ("tombstone-of-live-group", "likely")
    assert "the offset 9000 of group other-mirror for orders-0 (and those of 1 more" in deleted["summary"]


def test_what_findings_name_exists(findings: list[Finding]) -> None:
    assert findings
    for each in findings:
        assert set(each["behaviours"]) <= set(CATALOGUE)
        assert each["why"]
        assert each["evidence"]


def test_bad_input_is_named(result: tuple[Result, Path], given: Path) -> None:
    told = " ".join(result[0].output.split())
    assert f"{given}/torn.jsonl:2:" in told
    assert f"{given}/newer.jsonl:1: unknown schema version 99" in told
    assert "wrong CRC" in told
    assert "1 file of no known kind" in told
    assert "holiday.jpg" in told


def test_the_page(result: tuple[Result, Path]) -> None:
    page = (result[1] / "report.html").read_text()
    assert "truncation-gap" in page
    assert "<svg" in page
    assert "&lt;script&gt;alert(1)" in page
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_parquet_is_for_everyone(result: tuple[Result, Path]) -> None:
    import pyarrow.dataset as ds

    table = ds.dataset(result[1] / "observations", partitioning="hive").to_table(columns=["kind", "offset"])
    assert "commit" in table["kind"].to_pylist()
    unreadable = ds.dataset(result[1] / "observations" / "kind=unreadable").to_table(columns=["detail"])
    assert any("truncated tail" in each for each in unreadable["detail"].to_pylist())


def test_findings_may_fail_the_command() -> None:
    story = str(STORIES / "kafka-7104.log")
    assert CliRunner().invoke(app, ["analyze", story, "--fail-on-findings"]).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere"], "nowhere: No such file or directory"),
        (["empty", "--timezone", "Mars/Phobos"], "no time zone 'Mars/Phobos'"),
        (["empty"], "no file has a known format"),
        (["empty", "--out", "full"], "full exists: --out needs a new or empty folder"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, arguments: list[str], said: str) -> None:
    """Told before anything is read."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    ended = subprocess.run(
        [sys.executable, "-m", "mockbroker", "analyze", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (ended.returncode, ended.stdout) == (2, "")
    (line,) = ended.stderr.splitlines()
    assert line.startswith("mockbroker analyze: ")
    assert said in line
