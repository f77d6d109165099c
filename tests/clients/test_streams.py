"""Kafka Streams: a word count with exactly_once_v2, while instances and brokers come and go.

Every new count of a word is a record of the output: a reader of committed records must see each of them once.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from mockbroker import MockCluster, ReleaseName, When
from mockbroker.cluster.cluster import Cluster

from .. import needs
from ..turns import in_turn, one_in
from .streams import APPLICATION, CONFIG, COUNTS, LINES, PARTITIONS, REPARTITION, Instances, Text

Start = Callable[[], Instances]


@pytest.fixture
def markers_delay_ms() -> int:
    """How long a transaction takes to complete; a test may parametrize it."""
    return 0


@pytest.fixture
def cluster(release: ReleaseName, markers_delay_ms: int) -> Iterator[MockCluster]:
    config = {**CONFIG, "mockbroker.transaction.markers.delay.ms": str(markers_delay_ms)}
    with MockCluster(kafka=release, topics={LINES: PARTITIONS, COUNTS: PARTITIONS}, config=config) as cluster:
        yield cluster


@pytest.fixture
@needs.brings(*needs.JAVA)
def jvm(cluster: MockCluster, tmp_path: Path) -> Iterator[Start]:
    """Starts a JVM for instances."""
    started: list[Instances] = []

    def start() -> Instances:
        started.append(Instances(cluster.bootstrap_servers, tmp_path))
        return started[-1]

    yield start
    for each in started:
        each.program.stop()


@pytest.fixture
def text(cluster: MockCluster) -> Iterator[Text]:
    made = Text(cluster.bootstrap_servers)
    yield made
    made.close()


def members(cluster: MockCluster) -> int:
    """How many consumers the application's group has."""

    def count(core: Cluster) -> int:
        coordinator = core.coordinator(APPLICATION)
        return len(coordinator.groups.groups[APPLICATION].members) if coordinator else 0

    return cluster.run(count)


def purged(cluster: MockCluster) -> bool:
    """Whether records of the repartition topic were deleted once they were counted."""
    return cluster.run(
        lambda core: any(each.log.start_offset > 0 for each in core.topics[REPARTITION].partitions)
    )


# A broker of 4.4 waits for the markers of the last transaction, but not so long: CONCURRENT_TRANSACTIONS.
RELEASES: Final = [("2.5", 0), ("3.5", 20), ("4.4", 150)]


@pytest.mark.parametrize(("release", "markers_delay_ms"), in_turn(RELEASES, 3))
def test_instances_and_brokers_that_go_and_come(cluster: MockCluster, jvm: Start, text: Text) -> None:
    instances = jvm()
    instances.open("a")
    instances.open("b")
    text.until("two instances", lambda: instances.running("a", "b"))
    text.go_on()

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

    text.until("deletion of what is counted", lambda: purged(cluster))
    text.finish()
    assert text.counts == text.expected()
    text.until("two instances at the end", lambda: instances.running("a", "b"))


@pytest.mark.parametrize("when", in_turn(["before", "after"], 2))
def test_an_instance_that_dies_as_it_commits(
    cluster: MockCluster, jvm: Start, text: Text, when: When
) -> None:
    """Its last transaction is undone and done again by another; or not, when it was complete."""
    dying, staying = jvm(), jvm()
    dying.open("a")
    staying.open("b")
    text.until("two instances", lambda: dying.running("a") and staying.running("b"))
    text.go_on()

    end = cluster.faults.add("hold", api="EndTxn", client_id="a-*", when=when, times=1)
    text.until("end of a transaction", lambda: end.hits == 1)
    dying.program.signal(signal.SIGKILL)
    text.until("member left", lambda: members(cluster) == 1)
    text.finish()
    assert text.counts == text.expected()
    text.until("one instance at the end", lambda: staying.running("b"))


@one_in(3, 2)
def test_a_zombie(cluster: MockCluster, jvm: Start, text: Text) -> None:
    """It sleeps in the middle of a transaction, and wakes when others have done its work."""
    sleeping, staying = jvm(), jvm()
    sleeping.open("a")
    staying.open("b")
    text.until("two instances", lambda: sleeping.running("a") and staying.running("b"))
    text.go_on()

    commit = cluster.faults.add("hold", api="TxnOffsetCommit", client_id="a-*", times=1)
    text.until("commit of offsets", lambda: commit.hits == 1)
    sleeping.program.signal(signal.SIGSTOP)
    text.until("member left", lambda: members(cluster) == 1)
    text.go_on()
    commit.release()
    sleeping.program.signal(signal.SIGCONT)
    text.until("member back", lambda: members(cluster) == 2 and sleeping.running("a"))
    text.go_on()
    text.finish()
    assert text.counts == text.expected()
    text.until("two instances at the end", lambda: sleeping.running("a") and staying.running("b"))
