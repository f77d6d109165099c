"""The benchmark command against real peers, for moments only: answers and no errors, never speed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import in_process, inside, rebalancing
from benchmarks.bench import ScenarioResult
from benchmarks.report import Metric, errors, ratio, worse
from benchmarks.rounds import Measured
from benchmarks.scenarios import SCENARIOS, choose
from benchmarks.trees import NotATreeError, Tree

from ..driving.processes import finished
from ..turns import in_turn

ROOT = Path(__file__).resolve().parents[2]


def run_benchmark(*arguments: str) -> subprocess.CompletedProcess[str]:
    quick = ("--rounds=1", "--seconds=0.05", "--warm-up=0.02")
    return finished([sys.executable, "-m", "benchmarks", *quick, *arguments], cwd=ROOT, timeout=280)


@pytest.mark.long
@pytest.mark.parametrize("peer", in_turn(["librdkafka-mock", "mockbroker"], 2))
def test_every_scenario_gives_answers_and_no_errors(peer: str, tmp_path: Path) -> None:
    chosen = [scenario for scenario in SCENARIOS if scenario.usual and not scenario.only_ours]
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
        if scenario.tls and peer == "librdkafka-mock":
            assert outcome["left_out"] == "is not started with TLS"
            continue
        if scenario.name == "heartbeat-16" and peer == "librdkafka-mock":
            assert outcome["left_out"].startswith("ConsumerGroupHeartbeat: ")
            continue
        if scenario.name == "connections-1000" and peer == "librdkafka-mock":
            assert outcome["left_out"].startswith("1000 connections: takes ")
            continue
        if scenario.name == "wake-up" and peer == "librdkafka-mock":
            assert outcome["left_out"] == "a Fetch that waits is not woken"
            continue
        assert outcome["left_out"] is None
        assert (outcome["times_one_replica"] or 0) > 0 or scenario.brokers == 1
        assert outcome["answers"] > 0
        assert (outcome["rate"] or 0) > 0 or not scenario.unit
        if scenario.name.startswith("fetch"):
            assert outcome["records_verified"] >= outcome["answers"]
        assert scenario.title in result.stdout


def test_a_good_client_is_answered_beside_attacks() -> None:
    attacks = ["huge-array", "reserve", "park", "quotas", "huge-certs"]
    attacks += ["renegotiations", "key-updates", "tokens", "before-login"]
    command = ["-m", "benchmarks.attacks", "--seconds=0.2", f"--only={','.join(attacks)}"]
    result = finished([sys.executable, *command], cwd=ROOT, timeout=280)
    assert not result.stderr
    assert "ERR" not in result.stdout
    rows = [line.split() for line in result.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == ["nobody", *attacks]
    assert all(int(row[1]) > 0 for row in rows)


def test_other_brokers_are_not_attacked() -> None:
    result = run_benchmark("--only", "librdkafka-mock", "--scenarios", "attacks,bomb")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "beside the worst attack: is not attacked" in result.stdout


def test_a_wrong_peer_or_scenario_is_refused() -> None:
    assert run_benchmark("--only", "zookeeper").returncode == 2
    assert run_benchmark("--scenarios", "juggling").returncode == 2


def test_scenarios_are_chosen_by_prefix() -> None:
    assert choose("") == [scenario for scenario in SCENARIOS if scenario.usual]
    assert [scenario.name for scenario in choose("fetch, connections")] == [
        "fetch-1MB",
        "fetch-1KB",
        "connections-64",
        "connections-1000",
    ]


@pytest.mark.long
def test_a_client_as_it_comes_and_a_broker_that_looks_at_nothing(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    names = "librdkafka-,produce-100B-16,idempotent,connections-64,epoch-1"
    result = run_benchmark("--only", "mockbroker,echo", "--scenarios", names, "--json", str(file))
    assert result.returncode == 0, result.stdout + result.stderr
    (entry,) = json.loads(file.read_text())["rounds"]
    ours, echo = (entry[name]["outcomes"] for name in ("mockbroker", "echo"))
    assert ours.keys() == echo.keys()
    assert all(outcome["rate"] > 0 for outcome in ours.values())
    can = {name for name, outcome in echo.items() if outcome["left_out"] is None}
    assert can == {"produce-100B-16", "idempotent-5", "connections-64"}
    assert all(echo[name]["rate"] > 0 for name in can)


@pytest.mark.long
def test_another_checkout_is_compared_with_thing_by_thing(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    names = "epoch-16,start-cpu,simulator-plain"
    result = run_benchmark("--against", str(ROOT), "--scenarios", names, "--json", str(file))
    assert "vs before" in result.stdout, result.stdout + result.stderr
    assert "below 0.95 of before by CPU time or memory" in result.stdout
    (entry,) = json.loads(file.read_text())["rounds"]
    assert list(entry) == ["mockbroker", "before"]
    for measured in entry.values():
        assert measured["failure"] is None
        assert measured["outcomes"]["epoch-16"]["rate"] > 0
        assert set(measured["inside"]) == {"start-cpu", "simulator-plain"}
        assert all(number > 0 for number in measured["inside"].values())


@pytest.mark.parametrize("row", ["start-wall", "week-idle", "week-records"])
def test_what_is_measured_in_a_process_is_a_number(row: str) -> None:
    assert in_process.ROWS[row](0) > 0


@pytest.mark.parametrize("program", ["loading", "compacting"])
def test_what_takes_long_is_measured_with_who_waits_for_it(program: str, tmp_path: Path) -> None:
    found = inside.beside(Tree(ROOT), program, 0.05, records=40_000)
    assert set(found) == {row.name for row in inside.ROWS if row.program == program}
    assert all(number > 0 for number in found.values())
    assert inside.beside(Tree(tmp_path), program, 0.05) == {}


@pytest.mark.parametrize(("kafka", "assignor"), [("4.4", "uniform"), ("4.2", "range")])
def test_a_group_that_rebalances(kafka: str, assignor: str) -> None:
    joined, left = rebalancing.measure(120, kafka, assignor)
    assert joined.cpu > 0
    assert left.cpu > 0
    assert 1 <= left.intervals <= 3


def test_rebalancing_as_rows(tmp_path: Path) -> None:
    found = inside.rebalance(Tree(ROOT), 20, 30)
    assert set(found) == {row.name for row in inside.ROWS if row.program == "rebalancing"}
    assert inside.rebalance(Tree(tmp_path)) == {}


def test_programs_of_another_checkout_import_its_package(tmp_path: Path) -> None:
    package = tmp_path / "mockbroker"
    package.mkdir()
    (package / "__init__.py").write_text("MARK = 'of the other checkout'\n")
    tree = Tree(tmp_path)
    tree.check()
    said = tree.run([tree.python, "-P", "-c", "import mockbroker; print(mockbroker.MARK)"])
    assert said == "of the other checkout\n"


@pytest.mark.parametrize(
    ("text", "message"), [(None, "it has no folder mockbroker/"), ("raise ValueError('broken')", "broken")]
)
def test_a_folder_from_which_nothing_can_be_run_is_refused(
    tmp_path: Path, text: str | None, message: str
) -> None:
    if text is not None:
        (tmp_path / "mockbroker").mkdir()
        (tmp_path / "mockbroker" / "__init__.py").write_text(text)
    with pytest.raises(NotATreeError, match=message):
        Tree(tmp_path).check()


def test_a_row_that_is_worse_than_before_is_named_with_its_ratios() -> None:
    def in_round(cpu_us: float, rate: float) -> Measured:
        outcome = ScenarioResult(rate=rate, broker_cpu_us=cpu_us)
        return Measured(outcomes={"epoch-16": outcome}, inside={"week-idle": 1})

    scenarios = choose("epoch-16")
    rounds = [
        {"mockbroker": in_round(10, 90), "before": in_round(9, 100)},
        {"mockbroker": in_round(20, 900), "before": in_round(16, 1000)},
    ]
    title = "OffsetForLeaderEpoch, 16 in flight"
    assert worse(rounds, scenarios, steady=True) == [f"{title}, broker CPU µs/answer: 0.85 (0.80 to 0.90)"]
    assert worse(rounds, scenarios, steady=False) == [f"{title}, answers/s: 0.90 (0.90 to 0.90)"]


def in_a_round(ours: float, theirs: float) -> dict[str, Measured]:
    return {"mockbroker": Measured(idle_mb=[ours]), "kfake": Measured(idle_mb=[theirs])}


def test_each_row_that_a_process_measures_can_be_chosen() -> None:
    assert {row.name for row in inside.ROWS if not row.program} == set(in_process.ROWS)
    assert [row.name for row in inside.choose("week")] == ["week-idle", "week-records"]


def test_a_ratio_is_taken_within_each_round_and_above_one_is_better() -> None:
    rounds = [in_a_round(1, 2), in_a_round(10, 30), in_a_round(100, 50)]
    lower = Metric("memory", "MB", False, lambda peer: peer.resident_idle_mb)
    higher = Metric("rate", "1/s", True, lambda peer: peer.resident_idle_mb)
    assert ratio(lower, rounds, "kfake") == 2
    assert ratio(higher, rounds, "kfake") == 0.5


def test_an_error_is_named_with_its_peer_scenario_and_how_often() -> None:
    (scenario,) = choose("epoch-16")
    good = {"mockbroker": Measured(outcomes={"epoch-16": ScenarioResult(answers=1, rate=1.0)})}
    bad = {"mockbroker": Measured(outcomes={"epoch-16": ScenarioResult(error="error code 74")})}
    expected = "mockbroker, OffsetForLeaderEpoch, 16 in flight: error code 74 (1 of 2 rounds)"
    assert errors([good, bad], [scenario]) == [expected]
