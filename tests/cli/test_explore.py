"""`mockbroker explore`."""

from dataclasses import fields
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.cli.explore import options
from mockbroker.pairs import pairs
from mockbroker.simulation.drawing import drawn
from mockbroker.simulation.history import happen
from mockbroker.simulation.plan import Options, Plan
from mockbroker.simulation.producer_setting import Generation
from mockbroker.simulation.weights import Weights
from mockbroker.version import __version__

LIVE = ["--policy", "fetch-log-start-offset=live", "--workers", "1"]


def explore(*options: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["explore", *options])
    return result.exit_code, result.output


def test_finds_shrinks_and_keeps(tmp_path: Path) -> None:
    status, said = explore("--seeds", "300", *LIVE, "--out", str(tmp_path), "--fail-on-violations")
    assert status == 1
    assert "follower-fetcher-dead" in said
    assert "cannot increment the log start offset" in said
    (kept,) = tmp_path.glob("follower-fetcher-dead-*.json")
    assert f"mockbroker replay {kept}" in said.replace("\n", "")
    found = happen(Plan.from_json(kept.read_text())).violations
    assert found[0].invariant == "follower-fetcher-dead"
    runs = pq.read_table(tmp_path / "runs")
    assert runs.num_rows == 300
    assert sum("follower-fetcher-dead" in each for each in runs["violations"].to_pylist()) >= 1


def test_what_a_seed_drew_is_printed() -> None:
    said = explore("--first", "3", "--seeds", "1", "--producer", "1.0", "--no-timelines")[1]
    (line,) = [each for each in said.splitlines() if each.startswith("seed 3 drew ")]
    shown = dict(each.split("=") for each in line.removeprefix("seed 3 drew ").split(" "))
    assert shown == {
        name: str(value).lower() for name, value in drawn(3, Options(producer=Generation.V1_0))[1].items()
    }
    assert set(shown) <= {each.name for each in fields(Weights)}
    assert {"length_ms", "produces", "unclean", "delay_ms"} <= set(shown)
    assert shown["generation"] == "1.0"


def test_a_folder_holds_one_exploration(tmp_path: Path) -> None:
    def ended(*options: str) -> tuple[int, str]:
        return explore("--seeds", "1", "--workers", "1", "--no-timelines", "--out", str(tmp_path), *options)

    assert ended()[0] == ended("--first", "1")[0] == 0
    about = tmp_path / "sweep.json"
    claimed = about.read_text()
    runs = sorted((tmp_path / "runs").iterdir())
    assert len(runs) == 2
    for other, told in (
        (["--kafka", "2.3"], "with other options for own"),
        (["--policy", "fetch-log-start-offset=live"], "with other options for own"),
        (["--engine", "spark"], "that was run with --engine local"),
    ):
        status, said = ended(*other)
        assert status == 2
        assert f"{told} ({about}): choose another folder" in said
    about.write_text(claimed.replace(__version__, "0.0.9"))
    assert "of mockbroker 0.0.9, and this is" in ended()[1]
    about.write_text("[]")
    assert "that can't be read" in ended()[1]
    assert sorted((tmp_path / "runs").iterdir()) == runs


def test_compares_with_the_fix() -> None:
    status, said = explore("--seeds", "250", *LIVE, "--fixed", "both", "--no-timelines")
    assert status == 0
    lines = [line.split() for line in said.splitlines()]
    at = lines.index(["follower-fetcher-dead"])
    (own, found, *_), (fixed, none, *_) = lines[at + 1 : at + 3]
    assert (own, fixed, none) == ("own", "fixed", "0")
    assert int(found) > 0


@pytest.mark.parametrize(
    ("chosen", "moves", "newer"),
    [
        (["offsets-load=stops"], True, True),
        (["offsets-cleanup=during-load"], True, False),
        (["deposed-coordinator=acknowledges"], True, False),
        (["compaction=dead"], False, False),
    ],
)
def test_behaviours_of_loads_need_something_to_load(chosen: list[str], moves: bool, newer: bool) -> None:
    policies = pairs("--policy", chosen)
    of_loads = options("4.4", policies)
    assert of_loads == Options(policies=policies, offsets_topic=moves, newer_commits=newer)
    without = options("4.4", policies, offsets_topic=False)
    assert without == Options(policies=policies)


@pytest.mark.parametrize(
    ("chosen", "expressions"), [("joining-again=fenced", False), ("emptied-expression=new-epoch", True)]
)
def test_behaviours_of_consumer_groups_need_such_a_group(chosen: str, expressions: bool) -> None:
    policies = pairs("--policy", [chosen])
    grouped = options("4.4", policies)
    assert grouped == Options(policies=policies, consumer_groups=True, expressions=expressions)
    without = options("4.4", policies, consumer_groups=False)
    assert without == Options(policies=policies)


def test_finds_a_group_that_never_comes_to_rest() -> None:
    status, said = explore("--seeds", "12", "--consumer-groups", "--fail-on-violations")
    assert status == 1
    assert "members of a consumer group, assignors" in said
    assert "VIOLATION   group-unsettled" in said
