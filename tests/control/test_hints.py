"""What a cluster says of a client that gets nothing, and that it says nothing when all is well."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import aiokafka
import pytest
from confluent_kafka import Consumer, TopicPartition

from mockbroker import MockCluster
from mockbroker.names import ReleaseName
from mockbroker.rig.client import Client, DisconnectedError
from tests.clients.kafka_python import KafkaConsumer

from ..driving.clients import raw_client
from ..driving.real_clients import a_consumer, a_producer

_SOON_S = 60.0
_ON_THE_WAY = ("PreparingRebalance", "CompletingRebalance", "but asks it for nothing")
"""What is hinted at of clients that take half a second for a step: all of them, where the machine is busy."""


def _produce(cluster: MockCluster, **config: Any) -> None:
    """Three records to partition 0 of `orders`."""
    producer = a_producer(cluster, **config)
    for number in range(3):
        producer.produce("orders", f"order {number}", partition=0)
    producer.flush(_SOON_S)


@contextlib.contextmanager
def _consumer(cluster: MockCluster, **config: Any) -> Iterator[Consumer]:
    with contextlib.closing(a_consumer(cluster, "billing", **config)) as consumer:
        yield consumer


def _lasting(cluster: MockCluster) -> list[str]:
    """The hints but for those that are about a client on its way."""
    return [each for each in cluster.hints() if not any(part in each for part in _ON_THE_WAY)]


def _of_groups(cluster: MockCluster) -> list[str]:
    return [each for each in cluster.hints() if each.startswith("the group ")]


def _hinted(
    cluster: MockCluster,
    poll: Callable[[], object],
    hints: Callable[[MockCluster], list[str]] = MockCluster.hints,
) -> list[str]:
    """What is hinted at while a client polls in vain."""
    end = time.monotonic() + _SOON_S
    while not (found := hints(cluster)) and time.monotonic() < end:
        poll()
    return found


def _told(
    cluster: MockCluster,
    consumer: Consumer,
    topic: str = "orders",
    hints: Callable[[MockCluster], list[str]] = _lasting,
) -> str:
    consumer.subscribe([topic])
    found = _hinted(cluster, lambda: consumer.poll(0.05), hints)
    assert len(found) == 1, found
    return found[0]


def test_a_topic_with_more_replicas_than_there_are_brokers() -> None:
    config = {"default.replication.factor": "3"}
    with MockCluster(brokers=1, config=config) as cluster:
        producer = a_producer(cluster)
        producer.produce("orders", "order 1")
        (told,) = _hinted(cluster, lambda: producer.poll(0.05))
        producer.purge()
        assert told.startswith(
            "the topic 'orders' was not created: INVALID_REPLICATION_FACTOR: Unable to replicate the "
            "partition 3 time(s)"
        )


@pytest.mark.parametrize(
    ("config", "topic", "why"),
    [
        ({"auto.create.topics.enable": "false"}, "ordres", "auto.create.topics.enable is false"),
        ({}, "or/ders", "Topic name is invalid: 'or/ders' contains one or more characters other than*"),
        ({}, "shop_orders", "INVALID_TOPIC_EXCEPTION: Topic 'shop_orders' collides with existing topic*"),
    ],
)
def test_a_topic_that_metadata_does_not_create(config: dict[str, str], topic: str, why: str) -> None:
    with MockCluster(topics={"orders": 1, "shop.orders": 1}, config=config, trace=True) as cluster:
        asked = {"topics": [{"name": topic}], "allow_auto_topic_creation": True}
        with raw_client(cluster) as client:
            client.call("metadata", 8, asked)
        (told,) = cluster.hints()
        assert told.startswith(f"the topic '{topic}' was not created: {why.rstrip('*')}")
        assert told.endswith("did you mean 'orders'?") == (topic != "shop_orders")
        (event,) = cluster.trace.events("topic-not-created", topic=topic)
        assert f"the topic '{topic}' was not created: {why.rstrip('*')}" in str(event)


def test_a_topic_that_exists_by_now_is_told_of_no_more() -> None:
    with MockCluster(config={"auto.create.topics.enable": "false"}) as cluster, raw_client(cluster) as client:
        client.call("metadata", 8, {"topics": [{"name": "orders"}], "allow_auto_topic_creation": True})
        assert cluster.hints()
        created = {"name": "orders", "num_partitions": 1, "replication_factor": 1}
        client.call("create_topics", 5, {"topics": [created], "timeout": 1000})
        assert not cluster.hints()


def test_a_topic_that_a_client_failed_to_create() -> None:
    with MockCluster(brokers=2) as cluster, raw_client(cluster) as client:
        created = {"name": "orders", "num_partitions": 1, "replication_factor": 3}
        client.call("create_topics", 5, {"topics": [created], "timeout": 1000, "validate_only": True})
        assert not cluster.hints()
        client.call("create_topics", 5, {"topics": [created], "timeout": 1000})
        (told,) = cluster.hints()
        assert "only 2 broker(s) are registered" in told


def test_a_topic_that_a_consumer_may_not_create() -> None:
    with MockCluster(topics={"orders": 1}) as cluster, _consumer(cluster) as consumer:
        told = _told(cluster, consumer, "ordres")
        assert told == (
            "the topic 'ordres' was not created: the client 'rdkafka' asked for it, and not to create it "
            "(allow_auto_topic_creation): did you mean 'orders'?"
        )


def test_a_topic_that_a_consumer_created_and_nobody_writes() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        _produce(cluster)
        consumer = KafkaConsumer("ordres", bootstrap_servers=cluster.bootstrap_servers, client_id="reader")
        with contextlib.closing(consumer):
            (told,) = _hinted(cluster, lambda: consumer.poll(50))
        assert told == (
            "the client 'reader' reads the topic 'ordres', but nothing was ever written to it: "
            "did you mean 'orders'?"
        )


_BEGAN = (
    "of the group 'billing' found no committed offset and began after the last record "
    "(auto.offset.reset=latest): orders-0 at offset 3; nothing has been written since"
)


def test_a_consumer_that_began_at_the_end() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        _produce(cluster)
        with _consumer(cluster, **{"auto.offset.reset": "latest"}) as consumer:
            assert _told(cluster, consumer) == f"the client 'rdkafka' {_BEGAN}"
        assert cluster.hints(), "it is still told when the consumer is closed"
        _produce(cluster)
        assert not cluster.hints()


def test_an_aiokafka_consumer_that_began_at_the_end() -> None:
    async def consume(cluster: MockCluster) -> list[str]:
        consumer = aiokafka.AIOKafkaConsumer(
            "orders", bootstrap_servers=cluster.bootstrap_servers, group_id="billing", client_id="reader"
        )
        async with consumer:
            end = time.monotonic() + _SOON_S
            while not (found := _lasting(cluster)) and time.monotonic() < end:
                await consumer.getmany(timeout_ms=50)
        return found

    with MockCluster(topics={"orders": 1}) as cluster:
        _produce(cluster)
        assert asyncio.run(consume(cluster)) == [f"the client 'reader' {_BEGAN}"]


def test_a_transaction_that_is_open() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        producer = a_producer(cluster, **{"transactional.id": "billing-1"})
        producer.init_transactions()
        producer.begin_transaction()
        producer.produce("orders", "order 1")
        producer.flush(_SOON_S)
        with _consumer(cluster) as consumer:
            told = _told(cluster, consumer)
            assert told == (
                "the client 'rdkafka' reads committed records only, and gets none of orders-0 from offset 0 "
                "on, because the transaction of 'billing-1' is open"
            )
            producer.commit_transaction()
            assert not cluster.hints()


def test_records_that_are_not_replicated() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        leader = cluster.move_leader("orders", 0)
        for broker in {1, 2, 3} - {leader}:
            cluster.pause_follower("orders", 0, broker)
        _produce(cluster, acks=1)
        with _consumer(cluster) as consumer:
            told = _told(cluster, consumer)
        assert "gets none of orders-0 from offset 0 on: these in-sync replicas have not fetched them" in told
        assert told.count("(paused)") == 2


def test_a_producer_that_waits_for_a_follower() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        leader = cluster.move_leader("orders", 0)
        paused = leader % 3 + 1
        cluster.pause_follower("orders", 0, paused)
        delivered: list[object] = []
        producer = a_producer(cluster)
        producer.produce("orders", "order 1", on_delivery=lambda error, _: delivered.append(error))
        (told,) = _hinted(cluster, lambda: producer.poll(0.05))
        assert told == (
            "the client 'rdkafka' waits for the answer to its records of orders-0 from offset 0 on "
            "(acks=all): these in-sync replicas have not fetched them, and leave the ISR after "
            f"replica.lag.time.max.ms=30000: broker {paused} (paused)"
        )
        cluster.resume_follower("orders", 0, paused)
        assert producer.flush(_SOON_S) == 0
        assert delivered == [None]
        assert cluster.hints() == []


def test_an_offset_beyond_the_end() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        _produce(cluster)
        with _consumer(cluster, **{"auto.offset.reset": "error"}) as consumer:
            consumer.assign([TopicPartition("orders", 0, 99)])
            (told,) = _hinted(cluster, lambda: consumer.poll(0.05), _lasting)
        assert (
            told
            == "the client 'rdkafka' asked orders-0 for offset 99, but it begins at offset 0 and ends at 3"
        )


@pytest.mark.parametrize(
    ("kafka", "api", "version", "said"),
    [
        ("0.11", "list_offsets", 5, "sent ListOffsets v5, but Kafka 0.11 serves v0 to v2"),
        ("4.0", "produce", 1, "sent Produce v1, but Kafka 4.0 serves v3 to v12"),
    ],
)
def test_a_version_that_is_not_served(kafka: ReleaseName, api: str, version: int, said: str) -> None:
    with MockCluster(kafka=kafka, brokers=1) as cluster, raw_client(cluster) as client:
        with pytest.raises(DisconnectedError):
            client.call(api, version, {})
        (told,) = cluster.hints()
        assert f"{said}: its connection was closed" in told


def test_a_group_without_coordinator() -> None:
    config = {"offsets.topic.replication.factor": "1"}
    with MockCluster(topics={"orders": 1}, config=config) as cluster, raw_client(cluster) as client:
        answer = client.call("find_coordinator", 2, {"key": "billing", "key_type": 0})
        client.call("offset_fetch", 2, {"group_id": "billing", "topics": []})
        assert not cluster.hints()
        cluster.stop_broker(answer["node_id"])
        (told,) = cluster.hints()
        assert told.startswith(
            "the group 'billing' has no coordinator: __consumer_offsets-9 has no leader, since"
        )
        cluster.start_broker(answer["node_id"])
        assert not cluster.hints()


def test_a_group_that_waits_for_members() -> None:
    config = {"group.initial.rebalance.delay.ms": "60000"}
    with MockCluster(topics={"orders": 1}, config=config) as cluster, _consumer(cluster) as consumer:
        assert _told(cluster, consumer, hints=_of_groups) == (
            "the group 'billing' is PreparingRebalance, and was never Stable: it has 1 member and waits "
            "group.initial.rebalance.delay.ms for more of them"
        )
        cluster.clock.advance("1m")


def test_a_group_whose_leader_gives_no_assignment() -> None:
    with MockCluster(brokers=1) as cluster, raw_client(cluster) as client:
        joined = _join(client)
        (told,) = _hinted(cluster, lambda: time.sleep(0.01))
        assert told == (
            "the group 'billing' is CompletingRebalance, and was never Stable: it has 1 member and waits for "
            f"the assignment by its leader {joined['member_id']}"
        )


def test_a_member_that_is_silent_while_the_clock_stands_still() -> None:
    config = {"group.min.session.timeout.ms": "1"}
    with MockCluster(brokers=1, config=config, clock="manual") as cluster:
        with raw_client(cluster) as client:
            joined = _join(client, session_timeout_ms=50)
            ids = {"group_id": "billing", "generation_id": 1, "member_id": joined["member_id"]}
            assignment = {"member_id": joined["member_id"], "assignment": b""}
            client.call("sync_group", 3, {**ids, "assignments": [assignment]})
        (told,) = _hinted(cluster, lambda: time.sleep(0.01))
        assert told.endswith("but the clock stands still (clock='manual'): clock.advance('50ms')")
        cluster.clock.advance("50ms")
        assert not cluster.hints()


def test_a_broker_that_was_killed_while_the_clock_stands_still() -> None:
    with MockCluster(clock="manual") as cluster:
        cluster.kill_broker(1)
        (told,) = cluster.hints()
        assert told.startswith(
            "broker 1 was killed, and no other broker leads its partitions until its session has timed out"
        )
        cluster.clock.advance("1m")
        assert not cluster.hints()


def test_a_request_that_is_held() -> None:
    with MockCluster(topics={"orders": 1}) as cluster, _consumer(cluster) as consumer:
        fault = cluster.faults.add("hold", api="Fetch")
        told = _told(cluster, consumer)
        assert told == "the fault 'hold before api=Fetch' holds 1 request until its release()"
        fault.release()


def test_a_consumer_of_the_protocol_of_kip_848() -> None:
    config = {"group.protocol": "consumer"}
    with MockCluster(kafka="3.3", topics={"orders": 1}) as cluster, _consumer(cluster, **config) as consumer:
        assert _told(cluster, consumer, hints=MockCluster.hints) == (
            "the client 'rdkafka' found the coordinator of the group 'billing', but asks it for nothing: "
            "group.protocol=consumer needs ConsumerGroupHeartbeat (KIP-848), which brokers have since 3.7"
        )


def test_a_group_of_another_name() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        with _consumer(cluster) as consumer:
            consumer.commit(offsets=[TopicPartition("orders", 0, 0)], asynchronous=False)
        with _consumer(cluster, **{"group.id": "biling"}) as consumer:
            consumer.committed([TopicPartition("orders", 0)], timeout=_SOON_S)
        (told,) = cluster.hints()
        assert told == "the group 'biling' has no members and no committed offsets: did you mean 'billing'?"


@pytest.mark.parametrize("reset", ["earliest", "latest"])
@pytest.mark.parametrize("brokers", [1, 3])
def test_a_confluent_kafka_consumer_that_gets_its_records_has_no_hints(reset: str, brokers: int) -> None:
    with MockCluster(topics={"orders": 1}, brokers=brokers) as cluster:
        if reset == "earliest":
            _produce(cluster)
        with _consumer(cluster, **{"auto.offset.reset": reset}) as consumer:
            consumer.subscribe(["orders"])
            while not consumer.assignment():
                consumer.poll(0.05)
            if reset == "latest":
                # Its positions are known once it fetches.
                consumer.poll(0.05)
                while not cluster.run(lambda core: core.notes.waits):
                    consumer.poll(0.05)
                _produce(cluster)
            seen = 0
            while seen < 3:
                seen += consumer.poll(0.05) is not None
            consumer.get_watermark_offsets(TopicPartition("orders", 0), timeout=_SOON_S)
            assert cluster.hints() == []
        assert cluster.hints() == []


def test_a_kafka_python_consumer_that_gets_its_records_has_no_hints() -> None:
    with MockCluster(topics={"orders": 2}) as cluster:
        _produce(cluster)
        consumer = KafkaConsumer(
            "orders",
            bootstrap_servers=cluster.bootstrap_servers,
            group_id="billing",
            auto_offset_reset="earliest",
        )
        with contextlib.closing(consumer):
            assert [next(consumer).value for _ in range(3)]
            assert cluster.hints() == []
        assert cluster.hints() == []


def test_an_aiokafka_transaction_that_is_read_has_no_hints() -> None:
    async def work(cluster: MockCluster) -> None:
        servers = cluster.bootstrap_servers
        producer = aiokafka.AIOKafkaProducer(bootstrap_servers=servers, transactional_id="t")
        consumer = aiokafka.AIOKafkaConsumer(
            "orders",
            bootstrap_servers=servers,
            group_id="billing",
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        )
        async with producer, consumer:
            async with producer.transaction():
                await producer.send_and_wait("orders", b"order 1")
            await consumer.getone()
            assert cluster.hints() == []

    with MockCluster(topics={"orders": 2}) as cluster:
        asyncio.run(work(cluster))
        assert cluster.hints() == []


def test_what_is_noted_has_a_bound() -> None:
    with MockCluster(config={"auto.create.topics.enable": "false"}) as cluster, raw_client(cluster) as client:
        topics = [{"name": f"t{number}"} for number in range(300)]
        client.call("metadata", 8, {"topics": topics, "allow_auto_topic_creation": True})
        assert len(cluster.hints()) == 100


def _join(client: Client, session_timeout_ms: int = 60_000) -> dict[str, Any]:
    timeouts = {"session_timeout": session_timeout_ms, "rebalance_timeout": 60_000}
    protocols = {"protocol_type": "consumer", "protocols": [{"name": "range", "metadata": b""}]}
    joining: dict[str, Any] = {"group_id": "billing", **timeouts, **protocols}
    member = client.call("join_group", 5, {**joining, "member_id": ""})["member_id"]
    return client.call("join_group", 5, {**joining, "member_id": member})
