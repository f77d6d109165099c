"""What fails a test, and what the report of a failed one says."""

import pytest

from tests.pytest_plugin.conftest import Run

pytest_plugins = ["pytester"]


MISTAKES = {
    "mockbroker(polices={})": "@pytest.mark.mockbroker has no option 'polices': did you mean 'policies'?",
    "mockbroker('2.3')": "*takes options by name, as in kafka='2.3': '2.3' has no name",
    "mockbroker(kafka='2.33')": "no Kafka release '2.33': did you mean '2.8'?",
    "mockbroker(policies={'nonsense': 'x'})": "no behaviour 'nonsense'*",
    "mockbroker(faults=[{'do': 'disconect'}])": "no fault 'disconect': did you mean 'disconnect'?",
    "mockbroker(faults=[{'api': 'Produce'}])": "a fault needs 'do', which says what goes wrong*",
    "mockbroker(faults=['disconnect'])": "a fault is 'disconnect': give a dict such as {'do': 'disconnect'*",
    "mockbroker(clock='sun')": "no clock 'sun': choose one of manual, wall",
}


def test_what_is_misspelt_is_told_in_one_line(run: Run) -> None:
    tests = (
        f"@pytest.mark.{marker}\ndef test_{number}(mock_cluster):\n    pass\n"
        for number, marker in enumerate(MISTAKES)
    )
    result = run("\n".join(tests))
    result.assert_outcomes(errors=len(MISTAKES))
    told = [line for line in result.outlines if line.startswith("mockbroker: ")]
    assert len(told) == len(MISTAKES)
    result.stdout.fnmatch_lines_random(
        [f"mockbroker: {line.replace('[', '[[]')}" for line in MISTAKES.values()]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_fault_that_never_fired_fails_the_test_unless_it_is_optional(run: Run) -> None:
    result = run(
        """
fired = {"do": "delay", "ms": 1, "api": "Metadata"}
other = {"do": "disconnect", "api": "Produce"}

@pytest.mark.mockbroker(faults=[fired, other])
def test_forgotten(mock_cluster):
    ask(mock_cluster)

@pytest.mark.mockbroker(faults=[fired, {**other, "optional": True}])
def test_optional(mock_cluster):
    ask(mock_cluster)

def test_removed(mock_cluster):
    with mock_cluster.faults.add("silence", api="Heartbeat"):
        ask(mock_cluster)

@pytest.mark.mockbroker(faults=[other])
def test_broken(mock_cluster):
    assert False, "broken"

@pytest.mark.mockbroker(faults=[other])
def test_skipped(mock_cluster):
    pytest.skip("not now")
"""
    )
    result.assert_outcomes(passed=3, errors=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines_random(
        [
            "mockbroker: the fault 'disconnect before api=Produce' never fired: no Produce came; *=True*",
            "mockbroker: the fault 'silence before api=Heartbeat' never fired: no Heartbeat came before*",
            "ERROR *::test_forgotten*",
            "ERROR *::test_removed*",
            "FAILED *::test_broken*",
        ]
    )
    result.stdout.no_fnmatch_line("*delay*never fired*")


SABOTAGE = """
import socket, struct

def sabotage(cluster):
    work = cluster.run(lambda core: core.work)
    cluster.run(lambda core: setattr(core, "work", None))
    host, port = cluster.bootstrap_servers.split(",")[0].split(":")
    with socket.create_connection((host, int(port)), timeout=20) as sock:
        metadata = struct.pack(">hhih4si", 3, 1, 7, 4, b"test", -1)
        sock.sendall(struct.pack(">i", len(metadata)) + metadata)
        assert sock.recv(1) == b""
    cluster.run(lambda core: setattr(core, "work", work))
"""


@pytest.mark.parametrize("fixture", ["mock_cluster", "mock_cluster_session"])
def test_a_handler_that_raises_fails_the_test_with_its_traceback(run: Run, fixture: str) -> None:
    result = run(
        f"""{SABOTAGE}
def test_it({fixture}):
    sabotage({fixture})

def test_after({fixture}):
    ask({fixture})
""",
        "-pno:randomly",
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "mockbroker: broker * failed at Metadata v1 of client 'test' (127.0.0.1:*), and closed *",
            "*Traceback*",
            "ERROR *::test_it*",
        ]
    )


def test_a_fault_of_the_sessions_cluster_is_told_of_the_test_that_removed_it(run: Run) -> None:
    result = run(
        """
def test_it(mock_cluster_session):
    with mock_cluster_session.faults.add("silence", api="Heartbeat"):
        pass

def test_after(mock_cluster_session):
    pass
""",
        "-pno:randomly",
    )
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["*the fault 'silence before api=Heartbeat' never fired*", "ERROR *::test_it*"]
    )


def test_a_failed_test_says_what_its_cluster_was(run: Run) -> None:
    result = run(
        """
@pytest.mark.mockbroker(
    kafka="2.3", brokers=2, seed=7, clock="manual", topics={"orders": 1},
    policies={"undefined-epoch": "log-end-offset", "election@topic:orders": "unclean"},
    faults=[{"do": "delay", "ms": 1, "api": "Metadata", "times": 1}],
)
def test_it(mock_cluster):
    ask(mock_cluster)
    assert False
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "*- mockbroker -*",
            "Kafka 2.3, brokers: 2, seed: 7",
            "clock: manual, at 20*",
            "policy undefined-epoch=log-end-offset",
            "policy election@topic:orders=unclean",
            "fault delay before api=Metadata times=1: 1 hit",
        ]
    )


def test_a_failed_test_says_what_share_groups_have_in_flight(run: Run) -> None:
    result = run(
        """
from confluent_kafka import ShareConsumer

quick = {
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "group.share.assignment.interval.ms": "0",
}

@pytest.mark.mockbroker(brokers=1, topics={"jobs": 1}, config=quick)
def test_it(mock_cluster):
    mock_cluster.configure_group("workers", {"share.auto.offset.reset": "earliest"})
    for number in range(3):
        mock_cluster.produce("jobs", f"job {number}")
    explicit = {"share.acknowledgement.mode": "explicit"}
    own = {"bootstrap.servers": mock_cluster.bootstrap_servers, "group.id": "workers"}
    member = ShareConsumer({**own, **explicit})
    member.subscribe(["jobs"])
    while not member.poll(1):
        pass
    assert False
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["share group workers of jobs-0 from 0, 0-2 acquired by *"])


def test_a_failed_test_says_what_was_decided_otherwise(run: Run) -> None:
    """And neither what any broker decides nor what was said."""
    result = run(
        """
from mockbroker.rig.client import Client

@pytest.mark.mockbroker(brokers=1, topics={"orders": 1}, policies={"undefined-epoch": "log-end-offset"})
def test_it(mock_cluster):
    host, port = mock_cluster.bootstrap_servers.split(":")
    asked = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 7}
    with Client(host, int(port)) as client:
        for _ in range(3):
            topics = [{"topic": "orders", "partitions": [asked]}]
            client.call("offset_for_leader_epoch", 3, {"replica_id": -1, "topics": topics})
    assert len(mock_cluster.trace.events("decision", name="undefined-epoch")) == 3
    assert mock_cluster.trace.events("decision", name="time-retention")
    assert False
"""
    )
    result.assert_outcomes(failed=1)
    told = [line for line in result.outlines if "undefined-epoch=log-end-offset (chosen)" in line]
    assert len(told) == 1
    assert "for orders on broker 1: latest epoch 0, log end offset 0 -> [0, 0]" in told[0]
    result.stdout.no_fnmatch_line("*time-retention=*")


def test_what_the_failure_says_is_not_said_again_and_calls_are_not_shown(run: Run) -> None:
    result = run(
        """
from mockbroker.rig.client import Client

def test_wait(mock_cluster):
    mock_cluster.faults.add("silence", api="Heartbeat").wait(timeout=0.01)

def test_run(mock_cluster):
    mock_cluster.run(lambda core: core.nonsense)

def look(request):
    assert request.api == "Fetch", "my own words"

def test_callback(mock_cluster):
    mock_cluster.on("Metadata", look)
    for host in mock_cluster.bootstrap_servers.split(",")[:2]:
        with Client(host.split(":")[0], int(host.split(":")[1])) as client:
            client.call("metadata", 8, {})
""",
        "-pno:randomly",
        "-rN",
    )
    result.assert_outcomes(passed=1, failed=2, errors=1)
    whole = result.stdout.str()
    assert whole.count("no client sent anything") == 1
    assert whole.count("my own words") == 2, "in the source line and in the message"
    assert whole.count("(1 more like it)") == 1
    assert "concurrent" not in whole
    assert "mockbroker/" not in whole.replace("mockbroker/pytest_plugin", "")


def test_the_state_of_replicas_is_not_in_a_report(run: Run) -> None:
    result = run(
        """
@pytest.mark.mockbroker(console=True, topics={"orders": 1})
def test_it(mock_cluster):
    mock_cluster.produce("orders", "order 1")
    assert mock_cluster.console_url.endswith("/console/")
    assert False
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*orders-0: high watermark 1*"])
    result.stdout.no_fnmatch_line("*the whole state*")
    result.stdout.no_fnmatch_line("*epochs*")
