"""Kafka Streams with `group.protocol=streams` (KIP-1071): brokers assign tasks, and create internal topics.

Every new count of a word is a record of the output: a reader of committed records must see each of them once.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mockbroker import MockCluster, ReleaseName

from .. import needs
from ..turns import in_turn
from .streams import (
    APPLICATION,
    CHANGELOG,
    COUNTS,
    LINES,
    PARTITIONS,
    REPARTITION,
    STREAMS,
    STREAMS_CONFIG,
    Instances,
    Text,
)

Start = Callable[[], Instances]


@pytest.fixture
def cluster(release: ReleaseName) -> Iterator[MockCluster]:
    with MockCluster(
        kafka=release, topics={LINES: PARTITIONS, COUNTS: PARTITIONS}, config=STREAMS_CONFIG
    ) as cluster:
        yield cluster


@pytest.fixture
@needs.brings(*needs.JAVA)
def jvm(cluster: MockCluster, client: str, tmp_path: Path) -> Iterator[Start]:
    """Starts a JVM for instances."""
    started: list[Instances] = []

    def start() -> Instances:
        started.append(Instances(cluster.bootstrap_servers, tmp_path, client, STREAMS))
        return started[-1]

    yield start
    for each in started:
        each.program.stop()


@pytest.fixture
def text(cluster: MockCluster) -> Iterator[Text]:
    made = Text(cluster.bootstrap_servers)
    yield made
    made.close()


def state(cluster: MockCluster) -> tuple[str, int]:
    """The group's state, and how many members it has."""
    group = cluster.group(APPLICATION)
    assert group.type == "streams"
    return group.state, len(group.members)


@pytest.mark.parametrize(("release", "client"), in_turn([("4.2", "4.3.1"), ("4.4", "4.4.0")], 2))
def test_instances_and_brokers_that_go_and_come(cluster: MockCluster, jvm: Start, text: Text) -> None:
    instances = jvm()
    instances.open("a")
    instances.open("b")
    text.until("two instances", lambda: instances.running("a", "b"))
    text.until("a stable group", lambda: state(cluster) == ("Stable", 2))
    text.go_on()
    for topic in (REPARTITION, CHANGELOG):
        assert len(cluster.topic(topic).partitions) == PARTITIONS

    instances.close("a")
    text.until("one instance", lambda: instances.closed("a"))
    text.go_on()
    instances.open("a")
    text.until("two instances again", lambda: instances.running("a", "b"))
    text.go_on()

    assert cluster.move_coordinator(group=APPLICATION)
    text.go_on()
    for broker in (1, 2, 3):
        cluster.stop_broker(broker)
        text.go_on()
        cluster.start_broker(broker)
        text.go_on()
    text.finish()
    assert text.counts == text.expected()
    text.until("two instances at the end", lambda: state(cluster) == ("Stable", 2))


@pytest.mark.parametrize(("release", "client"), [("4.4", "4.4.0")])
def test_an_instance_that_dies_as_it_commits(cluster: MockCluster, jvm: Start, text: Text) -> None:
    """Its last transaction is undone, and done again by another."""
    dying, staying = jvm(), jvm()
    dying.open("a")
    staying.open("b")
    text.until("two instances", lambda: dying.running("a") and staying.running("b"))
    text.go_on()

    end = cluster.faults.add("hold", api="EndTxn", client_id="a-*", when="before", times=1)
    text.until("end of a transaction", lambda: end.hits == 1)
    dying.program.signal(signal.SIGKILL)
    text.until("member left", lambda: state(cluster) == ("Stable", 1))
    text.finish()
    assert text.counts == text.expected()
    text.until("one instance at the end", lambda: staying.running("b"))
