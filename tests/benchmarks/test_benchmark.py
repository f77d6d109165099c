"""The benchmark command against real peers, for moments only: answers and no errors, never speed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.bench import Outcome
from benchmarks.report import Metric, errors, ratio
from benchmarks.rounds import Measured
from benchmarks.scenarios import SCENARIOS, choose

ROOT = Path(__file__).resolve().parents[2]


def run_benchmark(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        "-m",
        "benchmarks",
        "--rounds=1",
        "--seconds=0.05",
        "--warm-up=0.02",
        *arguments,
    ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize("peer", ["librdkafka-mock", "mockbroker"])
def test_every_scenario_gives_answers_and_no_errors(peer: str, tmp_path: Path) -> None:
    chosen = [scenario for scenario in SCENARIOS if not scenario.only_ours]
    names = ",".join(scenario.name for scenario in chosen)
    result = run_benchmark("--only", peer, "--scenarios", names, "--json", str(tmp_path / "out.json"))
    assert result.returncode == 0, result.stdout + result.stderr
    (entry,) = json.loads((tmp_path / "out.json").read_text())["rounds"]
    measured = entry[peer]
    assert measured["failure"] is None
    assert measured["start_up_seconds"] > 0
    assert set(measured["outcomes"]) == {scenario.name for scenario in chosen}
    for scenario in chosen:
        outcome = measured["outcomes"][scenario.name]
        assert outcome["error"] is None
        if scenario.brokers > 1 and peer != "mockbroker":
            assert outcome["left_out"] == "is not started with 3 brokers"
            continue
        assert outcome["left_out"] is None
        assert (outcome["times_one_replica"] or 0) > 0 or scenario.brokers == 1
        assert outcome["answers"] > 0
        assert (outcome["rate"] or 0) > 0 or not scenario.unit
        if scenario.name.startswith("fetch"):
            assert outcome["records_verified"] >= outcome["answers"]
        assert scenario.title in result.stdout


def test_a_good_client_is_answered_beside_attacks() -> None:
    command = [sys.executable, "-m", "benchmarks.attacks", "--seconds=0.2", "--only=huge-array,reserve,park"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert not result.stderr
    assert "ERR" not in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == ["nobody", "huge-array", "reserve", "park"]
    assert all(int(row[1]) > 0 for row in rows)


def test_other_brokers_are_not_attacked() -> None:
    result = run_benchmark("--only", "librdkafka-mock", "--scenarios", "attacks,bomb")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "beside the worst attack: is not attacked" in result.stdout


def test_a_wrong_peer_or_scenario_is_refused() -> None:
    assert run_benchmark("--only", "zookeeper").returncode == 2
    assert run_benchmark("--scenarios", "juggling").returncode == 2


def test_scenarios_are_chosen_by_prefix() -> None:
    assert choose("") == list(SCENARIOS)
    assert [scenario.name for scenario in choose("fetch, connections")] == [
        "fetch-1MB",
        "fetch-1KB",
        "connections-64",
    ]


def in_a_round(ours: float, theirs: float) -> dict[str, Measured]:
    return {"mockbroker": Measured(start_up_seconds=ours), "kfake": Measured(start_up_seconds=theirs)}


def test_a_ratio_is_taken_within_each_round_and_above_one_is_better() -> None:
    rounds = [in_a_round(1, 2), in_a_round(10, 30), in_a_round(100, 50)]
    lower = Metric("start-up", "s", False, lambda peer: peer.start_up_seconds)
    higher = Metric("rate", "1/s", True, lambda peer: peer.start_up_seconds)
    assert ratio(lower, rounds, "kfake") == 2
    assert ratio(higher, rounds, "kfake") == 0.5


def test_an_error_is_named_with_its_peer_scenario_and_how_often() -> None:
    (scenario,) = choose("epoch-16")
    good = {"mockbroker": Measured(outcomes={"epoch-16": Outcome(answers=1, rate=1.0)})}
    bad = {"mockbroker": Measured(outcomes={"epoch-16": Outcome(error="error code 74")})}
    expected = "mockbroker, OffsetForLeaderEpoch, 16 in flight: error code 74 (1 of 2 rounds)"
    assert errors([good, bad], [scenario]) == [expected]
