"""A real client while brokers go down and leaders change."""

from uuid import uuid4

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from mockbroker import MockCluster
from mockbroker.rig.waiting import wait_for

COUNT = 300


def produce(bootstrap: str, topic: str, values: range) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "acks": "all", "enable.idempotence": True})
    failed: list[str] = []
    for value in values:
        producer.produce(
            topic, str(value), on_delivery=lambda error, _: failed.append(str(error)) if error else None
        )
    assert producer.flush(60) == 0
    assert failed == []


def consume(bootstrap: str, topic: str, count: int) -> list[int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": f"g-{uuid4()}"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found: list[int] = []
    while len(found) < count:
        message = consumer.poll(30)
        assert message is not None, f"{len(found)} of {count} records came"
        if not message.error():
            found.append(int(message.value() or b"-1"))
    consumer.close()
    return found


def test_nothing_acknowledged_is_lost_while_leaders_change() -> None:
    topic = "failover"
    with MockCluster(brokers=3) as cluster:
        bootstrap = cluster.bootstrap_servers
        admin = AdminClient({"bootstrap.servers": bootstrap})
        admin.create_topics([NewTopic(topic, 1, 3)])[topic].result(30)
        leaders = set()
        for round_ in range(3):
            produce(bootstrap, topic, range(round_ * COUNT, (round_ + 1) * COUNT))
            leader = cluster.run(lambda core: core.topics[topic].partitions[0].leader)
            leaders.add(leader)
            cluster.stop_broker(leader)
            produced = consume(bootstrap, topic, (round_ + 1) * COUNT)
            assert produced == list(range((round_ + 1) * COUNT))
            cluster.start_broker(leader)
        assert len(leaders) > 1
        wait_for(
            "all replicas to have all records",
            lambda: (
                {(each.in_sync, each.log_end_offset) for each in cluster.replicas(topic, 0)}
                == {(True, 3 * COUNT)}
            ),
        )
