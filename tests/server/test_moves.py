"""A move that moves nothing is an error, however it is asked for."""

import pytest

from mockbroker import MockCluster
from mockbroker.errors import ConflictError

from ..driving.clients import raw_client


@pytest.mark.parametrize("brokers", [1, 2, 3])
def test_a_leader_that_can_not_move(brokers: int) -> None:
    with MockCluster(brokers=brokers, config={"default.replication.factor": "1"}, topics={"t": 1}) as cluster:
        with pytest.raises(ConflictError, match=r"of t-0: broker 1 has its only replica; .*replication"):
            cluster.move_leader("t", 0)
        assert cluster.replicas("t", 0)[0].state == "leader"
        with pytest.raises(KeyError, match="one replica"):
            cluster.pause_follower("t", 0, broker=brokers)


def test_a_leader_that_moves_is_told() -> None:
    with MockCluster(brokers=3, config={"default.replication.factor": "3"}, topics={"t": 1}) as cluster:
        assert cluster.move_leader("t", 0) == 2
        assert cluster.move_leader("t", 0, to=1) == 1
        with pytest.raises(ConflictError, match="broker 1 can't become leader of t-0: broker 1 leads"):
            cluster.move_leader("t", 0, to=1)


def test_a_coordinator_that_can_not_move() -> None:
    with MockCluster(brokers=1) as cluster:
        with pytest.raises(ConflictError, match="only replica"):
            cluster.move_coordinator(group="g")
        with pytest.raises(ConflictError, match="only replica"):
            cluster.move_coordinator(transactional_id="t")


def test_a_fault_that_moves_nothing_is_no_hit_and_the_next_may_be() -> None:
    with MockCluster(brokers=2, config={"default.replication.factor": "2"}, topics={"t": 1}) as cluster:
        fault = cluster.faults.add("move-leader", api="ListOffsets", times=1)
        partitions = [{"partition_index": 0, "timestamp": -1}]
        asked = {"replica_id": -1, "topics": [{"name": "t", "partitions": partitions}]}
        cluster.stop_broker(2)
        with raw_client(cluster) as client:
            client.call("list_offsets", 1, asked)
            assert fault.hits == 0
            cluster.start_broker(2)
            cluster.clock.advance("1s")
            client.call("list_offsets", 1, asked)
        assert fault.hits == 1
        assert cluster.replicas("t", 0)[1].state == "leader"


@pytest.mark.parametrize(("brokers", "replicas"), [(1, 1), (2, 2), (3, 3), (5, 3)])
def test_topics_of_the_start_have_replicas(brokers: int, replicas: int) -> None:
    with MockCluster(brokers=brokers, topics={"t": 1}) as cluster:
        assert len(cluster.replicas("t", 0)) == replicas


def test_topics_created_by_use_have_what_kafka_gives_them() -> None:
    with MockCluster(brokers=3) as cluster:
        with raw_client(cluster) as client:
            client.call("metadata", 4, {"topics": [{"name": "t"}], "allow_auto_topic_creation": True})
        assert len(cluster.replicas("t", 0)) == 1
