"""`mockbroker replay`, the first time as a process."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from mockbroker.simulation.plan import Plan, Step
from tests.cli.in_process import mockbroker

from ..driving.processes import mockbroker_process

KAFKA_7104 = Plan(
    seed=1,
    kafka="4.4",
    policies={"fetch-log-start-offset": "live"},
    steps=(
        Step(300, "produce", {"producer": 0, "count": 1}),
        Step(600, "slow-follower", {"broker": 2, "delay_ms": 1500}),
        Step(700, "produce", {"producer": 0, "count": 1}),
        Step(1700, "delete-records", {"percent": 100}),
        Step(2400, "produce", {"producer": 0, "count": 1}),
    ),
)
"""The follower's fetch reads before the second record is written; its answer has a log start after it."""


def replay(path: Path, *options: str) -> Result:
    return mockbroker("replay", str(path), *options)


@pytest.fixture
def violating(tmp_path: Path) -> Path:
    path = tmp_path / "history.json"
    path.write_text(KAFKA_7104.to_json())
    return path


def test_a_history_is_told_and_its_violation_is_marked(violating: Path) -> None:
    done = mockbroker_process("replay", str(violating))
    assert (done.returncode, done.stderr) == (1, "")
    assert "delete-records percent=100" in done.stdout
    assert "follower-fetcher-dead: cannot increment the log start offset" in done.stdout
    assert done.stdout.endswith("\nviolated: follower-fetcher-dead\n")
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("fix", [["--policy", "follower-log-start-offset=bounded"], ["--fixed", "yes"]])
def test_a_fix_is_tried_on_the_very_history(violating: Path, fix: list[str]) -> None:
    done = replay(violating, *fix)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.endswith("\nno invariant is violated\n")


def test_another_release_is_tried(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_text(replace(KAFKA_7104, kafka="0.11", policies={}).to_json())
    assert (replay(path).exit_code, replay(path, "--kafka", "1.0").exit_code) == (1, 0)


def test_the_trace_is_kept(violating: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    replay(violating, "--trace", str(trace))
    head, *lines = trace.read_text().splitlines()
    assert json.loads(head)["schema"] == "mockbroker-trace"
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    assert [row for row in rows if row["kind"] == "follower" and row["state"] == "failed"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not a history"),
        (KAFKA_7104.to_json().replace("slow-fol", "slo-fol"), "did you mean 'slow-follower'"),
        (KAFKA_7104.to_json().replace('"4.4"', '"4.x"'), "'4.x'"),
        (KAFKA_7104.to_json().replace('"live"', '"alive"'), "'alive'"),
    ],
)
def test_what_is_no_history_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "history.json"
    path.write_text(text)
    done = replay(path)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"mockbroker replay: {path}: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--policy", "no-such=x"],
        ["--policy", "x"],
        ["--kafka", "9.9"],
        ["--commit", "posiion"],
        ["--client", "confluent"],
        ["--client", "confluent-kafka", "--trace", "x"],
    ],
)
def test_an_option_that_can_not_be_is_one_line(violating: Path, options: list[str]) -> None:
    done = replay(violating, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1


def test_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    done = replay(tmp_path / "none.json")
    assert done.exit_code == 2
    assert "none.json" in done.stderr
    assert done.stderr.count("\n") == 1
