"""`pytest --pyargs mockbroker.conformance`: the questions as tests of any broker."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mockbroker
from mockbroker import MockCluster
from mockbroker.conformance import BROKER_CONFIG, Result, ask
from mockbroker.conformance.asking import FAILED, recorded
from mockbroker.conformance.known_differences import reason
from mockbroker.conformance.needed_config import needed
from mockbroker.conformance.questions import all_questions
from mockbroker.conformance.suite.plugin import Asked, DiffersError
from mockbroker.conformance.suite.report import (
    BROKE_OFF,
    EQUAL,
    OTHER_ERROR,
    OTHER_FIELD,
    differences,
    outcome,
)
from mockbroker.rig.scene import CLOSED

from ..driving.cluster import configured
from ..driving.network import InMemoryNetwork

ROOT = Path(mockbroker.__file__).parent.parent
PLUGINS = ("-p", "mockbroker.pytest_plugin", "-p", "no:cacheprovider", "-p", "no:asyncio")


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(kafka="4.4", brokers=1, config=dict(BROKER_CONFIG)) as cluster:
        yield cluster


def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Pytest in a folder without a project, as somebody who makes a broker starts it."""
    command = [sys.executable, "-m", "pytest", *PLUGINS, "--pyargs", "mockbroker.conformance", *arguments]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "COLUMNS": "160"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=250, check=False
    )


def asked(folder: Path, bootstrap: str, *arguments: str) -> dict[str, Any]:
    """The JSON report of a run."""
    file = folder / "report.json"
    done = run(folder, "--bootstrap", bootstrap, "--report", str(file), *arguments)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found: dict[str, Any] = json.loads(file.read_text())
    return found


@pytest.mark.parametrize("brokers", [1, 3])
def test_a_mock_passes_save_for_the_known_differences(tmp_path: Path, brokers: int) -> None:
    with MockCluster(kafka="4.4", brokers=brokers, config=dict(BROKER_CONFIG)) as cluster:
        report = asked(tmp_path, cluster.bootstrap_servers, "-k", "Heartbeat or ApiVersions or Metadata")
    other = 3 if brokers == 1 else 1
    assert set(report["skipped"]) == {f"it is for {_brokers(other)}, and the cluster has {brokers}"}
    known = {each.name.replace("_", " ") for each in all_questions() if reason(each.id, "4.4.0")}
    assert {title.split(" ", 2)[2] for title in report["different"]} <= known
    assert list(report["outcomes"].values()).count("equal") > 10


def _brokers(count: int) -> str:
    return "one broker" if count == 1 else f"{count} brokers"


def test_what_differs_is_told_field_by_field(tmp_path: Path, cluster: MockCluster) -> None:
    cluster.policies.set("undefined-epoch", "log-end-offset")
    report = tmp_path / "report.md"
    address = ("--bootstrap", cluster.bootstrap_servers, "--report", str(report))
    done = run(tmp_path, *address, "-k", "OffsetForLeaderEpoch")
    assert done.returncode == 1
    assert "mockbroker.conformance::OffsetForLeaderEpoch v4 " in done.stdout
    assert "end_offset: expected -1, got " in done.stdout
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("OffsetForLeaderEpoch ")]
    assert len(rows) == 1
    assert int(rows[0][2]) + int(rows[0][3]) > 0
    assert "| OffsetForLeaderEpoch |" in report.read_text()
    assert "end_offset: expected -1, got " in report.read_text()


def test_what_a_broker_does_not_advertise_is_skipped(tmp_path: Path) -> None:
    with MockCluster(kafka="2.3", brokers=1, config=dict(BROKER_CONFIG)) as cluster:
        report = asked(tmp_path, cluster.bootstrap_servers, "-k", "DescribeCluster or (Produce and batch)")
    reasons = {"the cluster has no DescribeCluster", "the cluster lacks versions of Produce"}
    assert reasons <= report["skipped"].keys()
    assert report["apis"]["DescribeCluster"].keys() == {"skipped"}


OTHER = {
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "true",
    "default.replication.factor": "2",
    "delete.topic.enable": "false",
    "log.retention.ms": "1000000000",
    "num.partitions": "2",
    "offsets.topic.num.partitions": "2",
}


@pytest.mark.parametrize("name", OTHER)
def test_questions_about_configuration_differ_without_it(name: str) -> None:
    questions = [each for each in all_questions() if name in needed(each.id)]
    assert questions
    for question in questions:
        config = {**BROKER_CONFIG, name: OTHER[name]}
        network = InMemoryNetwork(configured("4.4.0", question.brokers, None, config))
        results = ask(network.bootstrap_servers, "4.4.0", only=question.id, timeout=5, network=network)
        assert not all(each.equal for each in results if each.question == question.id), question.id


def test_questions_about_configuration_are_for_brokers_that_have_it(tmp_path: Path) -> None:
    with MockCluster(kafka="4.4", brokers=1, config={**BROKER_CONFIG, **OTHER}) as cluster:
        report = asked(tmp_path, cluster.bootstrap_servers, "-k", "CreateTopics or DescribeConfigs")
    assert "num.partitions is 2, and was 1 when recorded" in report["set_up"]
    assert "default.replication.factor is 2, and was 1 when recorded" in report["skipped"]
    assert report["different"] == {}


def test_a_cluster_that_goes_down_is_told() -> None:
    question, version, expected = next(recorded("4.4.0", "heartbeat.states"))
    with MockCluster(kafka="4.4", brokers=1, config=dict(BROKER_CONFIG)) as cluster:
        asking = Asked(cluster.bootstrap_servers, "4.4.0", timeout_s=0.5)
    with pytest.raises(DiffersError) as caught:
        asking.ask(question, version, expected)
    assert (caught.value.ended, caught.value.back) == (True, False)
    assert asking.report.ended == ["Heartbeat v0 states"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say which cluster to ask: --bootstrap HOST:PORT"),
        (["--bootstrap", "127.0.0.1:1"], "127.0.0.1:1 could not be asked: ConnectionRefusedError"),
        (["--bootstrap", "127.0.0.1:1", "--kafka", "new"], "'new' is not a Kafka release"),
        (["--bootstrap", "127.0.0.1:1", "--report", "a.html"], "a file ends in .json or .md"),
    ],
)
def test_what_can_not_be_asked(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert said in done.stderr


def test_a_question_that_breaks_off_says_where() -> None:
    expected: list[list[Any]] = [["one", {"a": 1}], ["two", 2]]
    got: list[list[Any]] = [["one", {"a": 3}], [FAILED, "TimeoutError: timed out"]]
    result = Result("heartbeat.states", 0, False, expected, got)
    assert outcome(result) == BROKE_OFF
    assert differences(result) == [
        "one: a: expected 1, got 3",
        "broke off before 'two': TimeoutError: timed out",
    ]


@pytest.mark.parametrize(
    ("expected", "got", "outcome_is"),
    [
        ({"error_code": "NONE", "offset": 1}, {"error_code": "NONE", "offset": 1}, EQUAL),
        ({"error_code": "NONE", "offset": 1}, {"error_code": "NONE", "offset": 2}, OTHER_FIELD),
        ({"error_code": "NONE", "offset": 1}, {"error_code": "INVALID_TIMESTAMP", "offset": -1}, OTHER_ERROR),
        ({"error_code": "NONE", "offset": 1}, CLOSED, OTHER_ERROR),
        ("INVALID_TIMESTAMP", CLOSED, OTHER_ERROR),
    ],
)
def test_other_errors_are_told_from_other_fields(expected: Any, got: Any, outcome_is: str) -> None:
    result = Result("heartbeat.states", 0, expected == got, [["one", expected]], [["one", got]])
    assert outcome(result) == outcome_is


def test_it_is_not_part_of_other_tests(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", *PLUGINS, "--help"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert "--bootstrap" not in done.stdout
