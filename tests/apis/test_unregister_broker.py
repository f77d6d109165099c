"""UnregisterBroker of brokers that run, have stopped or were killed, as a cluster of three of 4.4.0 did."""

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.liveness import Liveness
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.describe_cluster import DescribeClusterRequest
from mockbroker.protocol.messages.metadata import MetadataRequest
from mockbroker.protocol.messages.unregister_broker import UnregisterBrokerRequest

from ..driving.cluster import a_cluster, ask


def a_cluster_with_topics() -> Cluster:
    cluster = a_cluster()
    cluster.create_topic("t", [[3, 2], [2, 3]])
    cluster.create_topic("only", [[3]])
    return cluster


def unregister(cluster: Cluster, broker: int, asked: int = 1) -> int:
    return int(ask(cluster, UnregisterBrokerRequest(broker), broker=asked).error_code)


def registered(cluster: Cluster, asked: int = 1) -> dict[int, bool]:
    """Whether each is fenced."""
    answer = ask(cluster, DescribeClusterRequest(include_fenced_brokers=True), broker=asked)
    return {each.broker_id: each.is_fenced for each in answer.brokers}


def partitions(cluster: Cluster, asked: int = 1) -> dict[tuple[str, int], tuple[int, list[int], list[int]]]:
    """Leader, ISR and offline replicas of each."""
    answer = ask(cluster, MetadataRequest(topics=None), broker=asked)
    return {
        (topic.name, each.partition_index): (
            each.leader_id,
            list(each.isr_nodes),
            list(each.offline_replicas),
        )
        for topic in answer.topics
        for each in topic.partitions
    }


GONE = {("t", 0): (2, [2], [3]), ("t", 1): (2, [2], [3]), ("only", 0): (-1, [], [3])}


def test_one_that_runs_is_out_until_it_is_started_again() -> None:
    cluster = a_cluster_with_topics()
    assert unregister(cluster, 3, asked=3) == ErrorCode.NONE
    for asked in (1, 2, 3):
        assert registered(cluster, asked) == {1: False, 2: False}
        assert partitions(cluster, asked) == GONE
    cluster.advance(cluster.now_ms + 60_000)
    cluster.network.cut_off(3, [1], from_controller=True)
    cluster.network.rejoin(3)
    assert registered(cluster) == {1: False, 2: False}
    assert partitions(cluster) == GONE
    assert unregister(cluster, 3) == ErrorCode.BROKER_ID_NOT_REGISTERED
    cluster.processes.stop(3)
    assert registered(cluster) == {1: False, 2: False}
    cluster.processes.start(3)
    assert registered(cluster) == {1: False, 2: False, 3: False}
    assert partitions(cluster) == {
        ("t", 0): (2, [2, 3], []),
        ("t", 1): (2, [2, 3], []),
        ("only", 0): (3, [3], []),
    }


def test_one_that_has_stopped() -> None:
    cluster = a_cluster_with_topics()
    cluster.processes.stop(3)
    assert registered(cluster) == {1: False, 2: False, 3: True}
    assert unregister(cluster, 3) == ErrorCode.NONE
    assert registered(cluster) == {1: False, 2: False}
    assert partitions(cluster) == GONE
    cluster.processes.start(3)
    assert registered(cluster) == {1: False, 2: False, 3: False}


def test_one_that_was_killed_need_not_wait_for_its_session_to_end() -> None:
    cluster = a_cluster_with_topics()
    cluster.processes.kill(3)
    cluster.processes.start(3)
    assert cluster.brokers[3].liveness is Liveness.RETURNING
    assert unregister(cluster, 3) == ErrorCode.NONE
    assert registered(cluster) == {1: False, 2: False, 3: False}
    assert cluster.brokers[3].online


@pytest.mark.parametrize("broker", [1, 2])
def test_one_that_keeps_its_rack(broker: int) -> None:
    cluster = a_cluster(broker_rack="a")
    unregister(cluster, broker, asked=3)
    cluster.processes.stop(broker)
    cluster.processes.start(broker)
    assert cluster.controller.image.brokers[broker].rack == "a"


def test_the_only_one() -> None:
    cluster = a_cluster(brokers=1)
    cluster.create_topic("t", [[1]])
    assert unregister(cluster, 1) == ErrorCode.NONE
    assert registered(cluster) == {}
    assert partitions(cluster) == {("t", 0): (-1, [], [1])}
