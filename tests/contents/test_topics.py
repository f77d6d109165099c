"""Topics are created, described and deleted as a client's requests would."""

import pytest
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster, ReleaseName
from mockbroker.control.errors import RefusedError
from mockbroker.controller import reassignments
from mockbroker.errors import NotThereError


def test_a_topic_is_described_as_a_real_client_is_told() -> None:
    with MockCluster(brokers=3) as cluster:
        made = cluster.create_topic(
            "orders", partitions=4, replication_factor=2, config={"retention.ms": "7"}
        )
        assert made == cluster.topic("orders") == cluster.topics()["orders"]
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        told = admin.list_topics(timeout=30).topics["orders"].partitions
        assert {each.partition: (each.leader, each.replicas, each.isr) for each in made.partitions} == {
            index: (each.leader, tuple(each.replicas), tuple(each.isrs)) for index, each in told.items()
        }
        assert (made.replication_factor, made.configs) == (2, {"retention.ms": "7"})


def test_a_reassignment_under_way_is_seen() -> None:
    with MockCluster(brokers=4, topics={"orders": 1}) as cluster:
        cluster.cut_off(4, from_=[1, 2, 3])
        cluster.run(lambda core: reassignments.begin(core.topics["orders"].partitions[0], [4, 2, 3]))
        (moving,) = cluster.topics()["orders"].partitions
        assert (moving.replicas, moving.adding_replicas, moving.removing_replicas) == (
            (4, 2, 3, 1),
            (4,),
            (1,),
        )
        cluster.rejoin(4)
        cluster.clock.advance("1s")
        (moved,) = cluster.topics()["orders"].partitions
        assert (moved.replicas, moved.adding_replicas, moved.removing_replicas) == ((4, 2, 3), (), ())


def test_replicas_are_where_they_are_wanted() -> None:
    with MockCluster(brokers=3) as cluster:
        made = cluster.create_topic("orders", replica_assignment=[[3, 1], [2, 3]])
        assert [each.replicas for each in made.partitions] == [(3, 1), (2, 3)]
        assert [each.leader for each in made.partitions] == [3, 2]


def test_what_is_left_out_is_the_brokers_default() -> None:
    config = {"num.partitions": "5", "default.replication.factor": "2"}
    with MockCluster(brokers=3, config=config) as cluster:
        made = cluster.create_topic("orders")
        assert (len(made.partitions), made.replication_factor) == (5, 2)


@pytest.mark.parametrize(
    ("given", "error", "why"),
    [
        ({"replication_factor": 4}, "INVALID_REPLICATION_FACTOR", "only 3 broker(s) are registered"),
        ({"partitions": 0}, "INVALID_PARTITIONS", "non-positive"),
        ({"config": {"retention": "1"}}, "INVALID_CONFIG", "Unknown topic config name: retention"),
        ({"replica_assignment": [[1, 7]]}, "INVALID_REPLICA_ASSIGNMENT", "broker 7"),
        ({"replica_assignment": [[1]], "partitions": 1}, "INVALID_REQUEST", "numPartitions"),
        ({"topic": "a/b"}, "INVALID_TOPIC_EXCEPTION", "other than ASCII alphanumerics"),
        ({"topic": "there"}, "TOPIC_ALREADY_EXISTS", "already exists"),
    ],
)
def test_a_refusal_has_kafkas_error_and_its_reason(given: dict[str, object], error: str, why: str) -> None:
    with MockCluster(brokers=3, topics={"there": 1}) as cluster:
        with pytest.raises(RefusedError, match=f"^{error}: topic .* was not created: ") as refused:
            cluster.create_topic(**{"topic": "orders", **given})  # type: ignore[arg-type]
        assert refused.value.error == error
        assert why in refused.value.why
        assert list(cluster.topics()) == ["there"]


def test_a_topic_goes_and_so_do_its_records() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        cluster.produce("orders", "order 1")
        assert cluster.delete_topic("orders").partitions[0].log_end_offset == 1
        assert cluster.topics() == {}
        with pytest.raises(NotThereError, match="no topic 'orders'"):
            cluster.delete_topic("orders")
        cluster.create_topic("orders")
        assert cluster.records("orders") == []


def test_a_broker_may_refuse_to_delete() -> None:
    config = {"delete.topic.enable": "false"}
    with (
        MockCluster(topics={"orders": 1}, config=config) as cluster,
        pytest.raises(RefusedError, match="TOPIC_DELETION_DISABLED"),
    ):
        cluster.delete_topic("orders")


@pytest.mark.parametrize("kafka", ["0.11", "2.8", "4.4"])
def test_the_controller_is_asked_whichever_broker_it_is(kafka: ReleaseName) -> None:
    with MockCluster(kafka=kafka, brokers=3) as cluster:
        cluster.stop_broker(1)
        assert cluster.create_topic("orders", replication_factor=2).partitions[0].leader in (2, 3)
        cluster.stop_broker(2)
        cluster.stop_broker(3)
        with pytest.raises(RefusedError, match="BROKER_NOT_AVAILABLE: no broker is running"):
            cluster.create_topic("payments")
        assert cluster.topic("orders").partitions[0].leader in (2, 3, None)


def test_kafkas_own_topics_are_told_of_when_asked_for() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        assert list(cluster.topics(internal=True)) == ["orders"]
        cluster.move_coordinator(group="billing")
        assert list(cluster.topics()) == ["orders"]
        assert list(cluster.topics(internal=True)) == ["__consumer_offsets", "orders"]
        assert cluster.topic("__consumer_offsets").internal


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        for ask in (cluster.topic, cluster.records, cluster.delete_topic):
            with pytest.raises(NotThereError, match="no topic 'ordres': did you mean 'orders'"):
                ask("ordres")
