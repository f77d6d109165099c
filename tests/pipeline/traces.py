"""Traces of clusters that behave as in a story, or as they should, while real clients use them."""

from __future__ import annotations

import contextlib
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster
from mockbroker.rig.waiting import wait_for

LIMIT_S = 30.0
QUIET = {"logger": logging.Logger("quiet", logging.CRITICAL)}
REPLICATED = {"default.replication.factor": "2", "replica.lag.time.max.ms": "300"}


@contextlib.contextmanager
def traced(path: Path, **options: Any) -> Iterator[MockCluster]:
    """A cluster whose topic is called as the file."""
    with MockCluster(topics={path.stem: 1}, trace=True, **options) as cluster:
        yield cluster
        cluster.trace.write(path)


def client_of(cluster: MockCluster) -> dict[str, Any]:
    return {"bootstrap.servers": cluster.bootstrap_servers, **QUIET}


def produce(producer: Producer, topic: str, count: int) -> None:
    for _ in range(count):
        producer.produce(topic, b"v", partition=0)
        producer.flush(LIMIT_S)


def forgotten_producer(path: Path, kafka: str) -> None:
    """Retention takes all that an idempotent producer wrote, before it goes on."""
    with traced(path, kafka=kafka, brokers=1) as cluster:
        own = {**client_of(cluster), "client.id": path.stem, "enable.idempotence": True}
        producer = Producer({**own, "retry.backoff.ms": 20})
        produce(producer, path.stem, 3)
        cluster.run(lambda core: core.topics[path.stem].partitions[0].at_leader.advance_log_start(3))
        with contextlib.suppress(KafkaException):
            produce(producer, path.stem, 1)


def late_log_start(path: Path, told: str) -> None:
    """KAFKA-7104: records are deleted between a slow follower's read and its answer."""
    name = path.stem
    policies = {"fetch-log-start-offset": told}
    with traced(path, brokers=2, config=REPLICATED, policies=policies) as cluster:
        own = client_of(cluster)
        producer = Producer({**own, "acks": 1})
        produce(producer, name, 5)
        cluster.pause_follower(name, 0, 2)
        produce(producer, name, 2)
        wait_for("broker 2 to leave the ISR", lambda: not cluster.replicas(name, 0)[1].in_sync)
        cluster.slow_follower(name, 0, 2, 1000)
        produce(producer, name, 4)
        cluster.run(lambda core: core.topics[name].partitions[0].at_leader.advance_log_start(10))
        wait_for("what becomes of broker 2", lambda: settled(cluster, name))
        # A trace looks for changes when requests come.
        AdminClient(own).list_topics(timeout=LIMIT_S)


def settled(cluster: MockCluster, name: str) -> bool:
    follower = cluster.replicas(name, 0)[1]
    return follower.state == "failed" or follower.log_end_offset == 11


def quiet_day(path: Path) -> None:
    """A rebalance, a clean election, a user's seek and retention: all is as it should be."""
    name = path.stem
    config = {"default.replication.factor": "3", "group.initial.rebalance.delay.ms": "0"}
    with traced(path, config=config) as cluster:
        producer = Producer({**client_of(cluster), "enable.idempotence": True})
        produce(producer, name, 10)
        for number in range(2):
            consume(cluster, name, number)
        cluster.move_leader(name, 0, to=2)
        produce(producer, name, 5)
        cluster.run(lambda core: core.topics[name].partitions[0].at_leader.advance_log_start(4))
        consume(cluster, name, 2)


def consume(cluster: MockCluster, name: str, number: int) -> None:
    """Joins, goes to where the log begins, reads and commits."""
    own = {**client_of(cluster), "client.id": f"{name}-{number}", "group.id": f"group of {name}"}
    consumer = Consumer({**own, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe([name])
    while not consumer.assignment():
        consumer.poll(0.05)
    start = consumer.get_watermark_offsets(TopicPartition(name, 0), LIMIT_S)[0]
    consumer.assign([TopicPartition(name, 0, start)])  # `seek` fails as long as it does not fetch
    for _ in range(6):
        message = consumer.poll(LIMIT_S)
        assert message is not None
        assert not message.error()
        consumer.commit(message=message, asynchronous=False)
    consumer.close()


def mechanism(path: Path, key: str, *case: str) -> None:
    """One of KAFKA-19902's, with librdkafka."""
    command = [sys.executable, "-m", "studies.kafka_19902.tracing", str(path), key, *case]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
