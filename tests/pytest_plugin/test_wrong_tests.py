"""The tests that newcomers get wrong: the report of each names its cause in its first line."""

import re

import pytest

from tests.pytest_plugin.conftest import Run

pytest_plugins = ["pytester"]

WRONG = """
import time

from confluent_kafka import Consumer, Producer, TopicPartition
from mockbroker.rig.client import Client


def produce(cluster):
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0})
    producer.produce("orders", "order 1")
    return producer.flush(60)


def hinted(cluster):
    # A group whose client takes its time is hinted at too.
    return [each for each in cluster.hints() if "Rebalance" not in each and "asks it for" not in each]


def consume(cluster, **config):
    servers = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "log_level": 0}
    consumer = Consumer({**servers, **config})
    consumer.subscribe(["orders"])
    end, message = time.monotonic() + 60, None
    while message is None and time.monotonic() < end and not hinted(cluster):
        message = consumer.poll(0.05)
    consumer.close()
    return message


@pytest.mark.mockbroker(polices={})
def test_option(mock_cluster):
    pass


def test_fault_field(mock_cluster):
    mock_cluster.faults.add("disconnect", api="Produce", topc="orders")


@pytest.mark.mockbroker(faults=[{"do": "error", "api": "Produce", "error": "NOT_LEADER"}])
def test_error(mock_cluster):
    pass


@pytest.mark.mockbroker(
    topics={"orders": 1}, faults=[{"do": "disconnect", "api": "Produce", "topic": "ordres", "times": 1}]
)
def test_topic_of_a_fault(mock_cluster):
    assert produce(mock_cluster) == 0


@pytest.mark.mockbroker(topics={"orders": 1}, faults=[{"do": "disconnect", "api": "Fetch", "times": 1}])
def test_api_of_a_fault(mock_cluster):
    assert produce(mock_cluster) == 0


@pytest.mark.mockbroker(brokers=1, config={"default.replication.factor": "3"})
def test_replication_factor(mock_cluster):
    producer = Producer({"bootstrap.servers": mock_cluster.bootstrap_servers, "log_level": 0})
    producer.produce("orders", "order 1")
    while not mock_cluster.hints():
        producer.poll(0.05)
    producer.purge()
    assert consume(mock_cluster) is not None


@pytest.mark.mockbroker(topics={"orders": 1})
def test_reset(mock_cluster):
    assert produce(mock_cluster) == 0
    assert consume(mock_cluster) is not None


@pytest.mark.mockbroker(brokers=1, topics={"orders": 1})
def test_move(mock_cluster):
    mock_cluster.move_leader("orders", 0)


@pytest.mark.mockbroker(topics={"orders": 1}, clock="manual")
def test_clock(mock_cluster):
    mock_cluster.kill_broker(mock_cluster.topics()["orders"].partitions[0].leader)
    mock_cluster.trace.wait("leader", topic="orders", leader_epoch=1, timeout=0.1)


@pytest.mark.mockbroker(topics={"orders": 1})
def test_group(mock_cluster):
    assert produce(mock_cluster) == 0
    assert consume(mock_cluster, **{"auto.offset.reset": "earliest"}) is not None
    other = Consumer({"bootstrap.servers": mock_cluster.bootstrap_servers, "group.id": "biling"})
    (committed,) = other.committed([TopicPartition("orders", 0)], timeout=60)
    other.close()
    assert committed.offset == 1


def test_port(mock_cluster_factory):
    first = mock_cluster_factory(brokers=1)
    mock_cluster_factory(brokers=1, port=int(first.bootstrap_servers.rpartition(":")[2]))


def own(latest_epoch, log_end_offset):
    return 1 / 0


@pytest.mark.mockbroker(topics={"orders": 1}, policies={"undefined-epoch": own})
def test_policy(mock_cluster):
    host, port = mock_cluster.bootstrap_servers.split(",")[0].split(":")
    asked = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 7}
    with Client(host, int(port)) as client:
        topics = [{"topic": "orders", "partitions": [asked]}]
        client.call("offset_for_leader_epoch", 3, {"replica_id": -1, "topics": topics})
"""

MESSAGES = {
    "option": "mockbroker: @pytest.mark.mockbroker has no option 'polices': did you mean 'policies'?",
    "fault_field": "a fault 'disconnect' has no field 'topc': did you mean 'topic'?",
    "error": "mockbroker: no error 'NOT_LEADER': did you mean 'NOT_LEADER_OR_FOLLOWER'?",
    "topic_of_a_fault": (
        "mockbroker: the fault 'disconnect before api=Produce topic=ordres times=1' never fired: 1 Produce "
        "request came, none for the topic 'ordres' (they were for 'orders': did you mean that?)"
    ),
    "api_of_a_fault": (
        "mockbroker: the fault 'disconnect before api=Fetch times=1' never fired: no Fetch came; the clients "
        "sent ApiVersions, Metadata, Produce"
    ),
    "move": "no other broker can become leader of orders-0: broker 1 has its only replica",
    "port": "Address already in use. Choose another port, or port 0 for any free ones",
    "policy": "mockbroker: the policy given for 'undefined-epoch' raised ZeroDivisionError('division by",
}
"""What the failure itself says in its first line, by test."""
SECTIONS = {
    "replication_factor": "the topic 'orders' was not created: INVALID_REPLICATION_FACTOR: Unable to",
    "reset": (
        "the client 'rdkafka' of the group 'billing' found no committed offset and began after the last "
        "record (auto.offset.reset=latest): orders-0 at offset 1"
    ),
    "clock": "broker * was killed, and no other broker leads its partitions until its session",
    "group": "the group 'biling' has no members and no committed offsets: did you mean 'billing'?",
}
"""What the section `mockbroker` says in its first line, where the failure is one of the test's own words."""


@pytest.mark.parametrize("style", ["long", "short"])
def test_each_report_names_its_cause_in_its_first_line(run: Run, style: str) -> None:
    result = run(WRONG, "-rA", f"--tb={style}", "-pno:randomly", "-pno:cacheprovider")
    reports = _reports(result.outlines)
    assert reports.keys() == MESSAGES.keys() | SECTIONS.keys()
    for name, message in MESSAGES.items():
        first = next(line for line in reports[name] if line.startswith(("mockbroker: ", "E   ")))
        assert message in first, (name, first)
        assert sum(message in line for line in reports[name]) == 1, name
    for name, told in SECTIONS.items():
        start = next(i for i, line in enumerate(reports[name]) if re.fullmatch("-+ mockbroker -+", line))
        first = reports[name][start + 1]
        assert re.match(re.escape(told).replace(r"\*", ".*"), first), (name, first)
    for lines in reports.values():
        assert not [
            line for line in lines if re.search(r"mockbroker/(server|control|faults|policies)/", line)
        ]
        assert not [line for line in lines if "Traceback" in line or "hidden" in line]
        assert not [line for line in lines if "During handling" in line or "direct cause" in line]


def _reports(lines: list[str]) -> dict[str, list[str]]:
    """The lines of each report, by test."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        if title := re.fullmatch(r"_+ (?:ERROR at (?:setup|teardown) of )?test_(\w+) _+", line):
            name = title[1]
            assert name not in found, "a test is reported once"
            found[name] = []
        elif re.match("=+ .* =+$", line):
            name = ""
        elif name:
            found[name].append(line)
    return found
