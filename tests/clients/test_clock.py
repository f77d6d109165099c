"""Real clients whose cluster's time is moved: they go on as ever, and what should be over is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster
from mockbroker.clients.drivers.in_thread import Client as Driven

from .. import needs
from . import driven, scenario
from .scenario import TIMEOUT, Plan

Clients = Callable[..., Driven]
NO_OFFSET = -1001


@pytest.fixture
def cluster() -> MockCluster:
    return MockCluster(brokers=1, clock="manual", topics={"orders": 1})


def produce(cluster: MockCluster, *values: str, **conf: object) -> Producer:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "log_level": 0, **conf})
    if "transactional.id" in conf:
        producer.init_transactions(TIMEOUT)
        producer.begin_transaction()
    for value in values:
        producer.produce("orders", value)
    assert producer.flush(TIMEOUT) == 0
    return producer


def consumer(cluster: MockCluster, **conf: object) -> Consumer:
    found = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "billing",
            "auto.offset.reset": "earliest",
            "log_level": 0,
            **conf,
        }
    )
    found.subscribe(["orders"])
    return found


def read(consumer: Consumer) -> str:
    message = consumer.poll(TIMEOUT)
    assert message is not None
    assert not message.error()
    return (message.value() or b"").decode()


def test_records_are_gone_after_their_retention(cluster: MockCluster) -> None:
    with cluster:
        produce(cluster, "old")
        reader = consumer(cluster)
        assert read(reader) == "old"
        cluster.clock.advance("8d")
        assert reader.get_watermark_offsets(TopicPartition("orders", 0), TIMEOUT) == (1, 1)
        reader.close()


def test_a_member_is_expelled_after_its_session(cluster: MockCluster) -> None:
    with cluster:
        produce(cluster, "a")
        # Heartbeats that are rarer than this test is long: the member hears of it only later.
        reader = consumer(cluster, **{"session.timeout.ms": 300_000, "heartbeat.interval.ms": 200_000})
        assert read(reader) == "a"
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        cluster.clock.advance("299s")
        assert len(admin.describe_consumer_groups(["billing"])["billing"].result(TIMEOUT).members) == 1
        cluster.clock.advance("1s")
        assert admin.describe_consumer_groups(["billing"])["billing"].result(TIMEOUT).members == []
        reader.close()


def test_a_transaction_times_out(cluster: MockCluster) -> None:
    with cluster:
        producer = produce(cluster, "lost", **{"transactional.id": "t"})
        cluster.clock.advance("2m")
        with pytest.raises(KafkaException):
            producer.commit_transaction(TIMEOUT)
        produce(cluster, "kept")
        reader = consumer(cluster, **{"isolation.level": "read_committed"})
        assert read(reader) == "kept"
        reader.close()


def test_committed_offsets_expire(cluster: MockCluster) -> None:
    with cluster:
        produce(cluster, "a")
        reader = consumer(cluster)
        assert read(reader) == "a"
        reader.commit(asynchronous=False)
        reader.close()
        reader = consumer(cluster)
        partition = TopicPartition("orders", 0)
        assert reader.committed([partition], TIMEOUT)[0].offset == 1
        cluster.clock.advance("8d")
        assert reader.committed([partition], TIMEOUT)[0].offset == NO_OFFSET
        reader.close()


def test_aiokafka_works_while_time_stands_still(cluster: MockCluster) -> None:
    async def work() -> list[bytes]:
        servers = cluster.bootstrap_servers
        reader = AIOKafkaConsumer(
            "orders", bootstrap_servers=servers, group_id="billing", auto_offset_reset="earliest"
        )
        producer = AIOKafkaProducer(bootstrap_servers=servers, acks="all")
        async with producer, reader:
            # Nothing is there: each Fetch has to come back by itself.
            assert not await reader.getmany(timeout_ms=1000)
            await producer.send_and_wait("orders", b"a")
            return [(await reader.getone()).value]

    with cluster:
        began = cluster.clock.now_ms
        assert asyncio.run(asyncio.wait_for(work(), TIMEOUT)) == [b"a"]
        assert cluster.clock.now_ms == began


@pytest.mark.needs(*needs.JAVA)
def test_java_works_while_time_stands_still(clients: Clients, name: str) -> None:
    with MockCluster(clock="manual") as cluster:
        began = cluster.clock.now_ms
        plan = Plan(name, "lz4", "cooperative-sticky", idempotent=True)
        java = driven.Client(clients("java"), cluster.bootstrap_servers)
        scenario.check(scenario.run(java, plan))
        assert cluster.clock.now_ms == began
