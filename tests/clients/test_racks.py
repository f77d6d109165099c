"""A real client that reads from the replica in its rack (KIP-392)."""

import json

from confluent_kafka import Consumer, TopicPartition

from mockbroker import MockCluster

from .test_failover import produce

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
TOPIC = "near"
COUNT = 10


def test_a_consumer_reads_from_its_rack_and_from_the_leader_when_that_is_down() -> None:
    served_by = -1

    def note(statistics: str) -> None:
        nonlocal served_by
        partition = json.loads(statistics)["topics"].get(TOPIC, {}).get("partitions", {}).get("0", {})
        served_by = partition.get("broker", -1)

    def read(values: range) -> None:
        """All of them, and no more."""
        for value in values:
            message = consumer.poll(30)
            assert message is not None, f"record {value} did not come"
            assert (message.error(), message.value()) == (None, str(value).encode())

    def wait_for(broker: int) -> None:
        """Until the statistics say that the consumer fetches from `broker`; nothing is there to be read."""
        for _ in range(600):
            if served_by == broker:
                return
            assert consumer.poll(0.1) is None
        raise AssertionError(f"it fetches from broker {served_by}, not {broker}")

    racks = {1: "a", 2: "b"}
    config = {"replica.selector.class": RACK_AWARE}
    with MockCluster(brokers=2, racks=racks, config=config) as cluster:
        cluster.run(lambda core: core.create_topic(TOPIC, [[1, 2]]))
        produce(cluster.bootstrap_servers, TOPIC, range(COUNT))
        consumer = Consumer(
            {
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": "g",
                "client.rack": "b",
                "statistics.interval.ms": 100,
                "stats_cb": note,
            }
        )
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        read(range(COUNT))
        wait_for(2)
        produce(cluster.bootstrap_servers, TOPIC, range(COUNT, 2 * COUNT))
        read(range(COUNT, 2 * COUNT))
        assert served_by == 2
        cluster.stop_broker(2)
        produce(cluster.bootstrap_servers, TOPIC, range(2 * COUNT, 3 * COUNT))
        read(range(2 * COUNT, 3 * COUNT))
        wait_for(1)
        consumer.close()
