"""`mockbroker conformance`: what it says of the cluster that it asks, and of the answers."""

import itertools
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mockbroker import MockCluster, ReleaseName
from mockbroker.conformance import BROKER_CONFIG, asking, commands
from mockbroker.rig import readiness
from mockbroker.rig.client import Client
from mockbroker.rig.scene import Target

QUESTION = "heartbeat.wrong_members"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(commands.app, arguments)


@pytest.fixture
def unprepared() -> Iterator[MockCluster]:
    with MockCluster(kafka="3.9", brokers=1, topics={"orders": 2}) as cluster:
        yield cluster


def test_without_an_address_mocks_are_set_up_and_asked() -> None:
    done = run("ask", "--kafka", "3.9", "--only", QUESTION)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "compared with Kafka 3.9.2: " in done.stdout
    assert ", 0 different, 0 not supported" in done.stdout


def test_a_behaviour_of_the_mock_that_differs_is_found() -> None:
    policy = "group-protocols=no-such"
    assert "group-protocols" in run("ask", "--only", QUESTION, "--policy", policy).stderr
    done = run("ask", "--only", "offset_for_leader_epoch.", "--policy", "undefined-epoch=log-end-offset")
    assert done.exit_code == 1
    assert "different " in done.stdout


def test_what_the_cluster_lacks_is_told_with_a_mock_that_does_not(unprepared: MockCluster) -> None:
    done = run("ask", unprepared.bootstrap_servers, "--kafka", "4.4", "--only", QUESTION)
    first, *lines = done.stderr.splitlines()
    assert first == f"{unprepared.bootstrap_servers} is not set up as the recorded brokers were:"
    assert "  its API versions are those of Kafka 3.9: compare with --kafka 3.9" in lines
    assert "  offsets.topic.num.partitions is 50, and was 1 when recorded" in lines
    assert "  it already has topics, which will be in answers that list all topics: orders" in lines
    assert lines[-1].startswith(
        "For a mock that is: mockbroker serve --kafka 4.4 --brokers 1 --config auto.create"
    )
    assert done.stdout.splitlines()[-1].startswith("compared with Kafka 4.4.0: ")


def test_a_cluster_of_a_size_without_questions_is_told() -> None:
    with MockCluster(kafka="4.4", brokers=2, config=dict(BROKER_CONFIG)) as cluster:
        done = run("ask", cluster.bootstrap_servers, "--kafka", "4.4")
    assert done.exit_code == 2
    assert "it has 2 brokers: there are questions for 1 or 3 brokers" in done.stderr
    assert "no recorded question" in done.stderr


@pytest.mark.parametrize("kafka", ["0.11", "2.3", "3.9", "4.0", "4.4"])
@pytest.mark.parametrize("brokers", [1, 3])
def test_a_mock_with_the_options_that_are_told_lacks_nothing(kafka: ReleaseName, brokers: int) -> None:
    given = readiness.options(kafka, brokers).split()
    config = dict(each.split("=") for flag, each in itertools.pairwise(given) if flag == "--config")
    with MockCluster(kafka=kafka, brokers=brokers, config=config) as cluster:
        assert readiness.lacking(Target.connect(cluster.bootstrap_servers), kafka) == []


def retention(cluster: MockCluster) -> Any:
    target = Target.connect(cluster.bootstrap_servers)
    with Client(target.host, target.port) as client:
        entry = readiness.configuration(target, client)["log.retention.ms"]
    return entry["value"], entry["config_source"]


def test_what_can_be_set_at_run_time_is_set_meanwhile(unprepared: MockCluster) -> None:
    before = retention(unprepared)
    with readiness.set_up(Target.connect(unprepared.bootstrap_servers)) as done:
        assert done == ["log.retention.ms=-1"]
        assert retention(unprepared) == ("-1", 3)
    assert retention(unprepared) == before
    told = run("ask", unprepared.bootstrap_servers, "--only", QUESTION, "--kafka", "3.9", "--set-up").stderr
    assert told.splitlines()[0] == "set for the time being: log.retention.ms=-1"
    assert "log.retention.ms is" not in told


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ask", "127.0.0.1:1"], "127.0.0.1:1: "),
        (["ask", "nonsense"], "nonsense: "),
        (["ask", "--only", "no-such"], "no recorded question"),
        (["ask", "--kafka", "new"], "'new' is not a Kafka release"),
        (["ask", "127.0.0.1:1", "--policy", "a=b"], "leave out the address"),
    ],
)
def test_what_can_not_be_asked_is_one_line(arguments: list[str], said: str) -> None:
    done = run(*arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_at_an_interrupt_what_was_compared_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    real = asking.ask

    def interrupted(*arguments: Any, report: Any, **options: Any) -> Any:
        def once(result: Any) -> None:
            report(result)
            signal.raise_signal(signal.SIGINT)

        return real(*arguments, report=once, **options)

    monkeypatch.setattr(commands, "ask", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = run("ask", "--only", QUESTION)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.exit_code == 130
    assert "interrupted\ncompared with Kafka 4.4.0: 1 equal, 0 different" in done.stdout


@pytest.mark.parametrize("module", ["mockbroker conformance", "mockbroker.conformance"])
def test_it_is_a_command_and_a_module(module: str) -> None:
    command = [sys.executable, "-m", *module.split(), "list", "--only", QUESTION]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.startswith(QUESTION)
