"""Transactions end to end: two commits and an abort, records moved with their offsets, a fenced producer."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from .. import needs
from . import java
from .scenario import TIMEOUT

COUNT = 20
COMMITTED = [*range(COUNT), *range(2 * COUNT, 3 * COUNT)]
RELEASES = ["0.11", "2.4", "2.5", "3.5", "3.9", "4.4"]


EXPECTED = {
    "committed": COMMITTED,
    "all": 3 * COUNT,
    "moved": COMMITTED,
    # Each of the three transactions has a marker.
    "position": 3 * COUNT + 3,
    "fenced": True,
}


class Confluent:
    """The scenario with librdkafka."""

    def __init__(self, bootstrap: str, name: str) -> None:
        self.bootstrap = bootstrap
        self.name = name

    def producer(self) -> Producer:
        conf = {"bootstrap.servers": self.bootstrap, "transactional.id": self.name, "log_level": 0}
        producer = Producer(conf)
        producer.init_transactions(TIMEOUT)
        return producer

    def consumer(self, isolation: str) -> Consumer:
        return Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.name,
                "isolation.level": isolation,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
        )

    def run(self) -> dict[str, Any]:
        topics = [NewTopic(topic, 1, 3) for topic in (self.name, self.name + "-out")]
        admin = AdminClient({"bootstrap.servers": self.bootstrap})
        for done in admin.create_topics(topics).values():
            done.result(TIMEOUT)
        first = self.producer()
        for round_ in range(3):
            first.begin_transaction()
            for i in range(COUNT):
                first.produce(self.name, str(round_ * COUNT + i))
            if round_ == 1:
                first.flush(TIMEOUT)
                first.abort_transaction(TIMEOUT)
            else:
                first.commit_transaction(TIMEOUT)
        position = self.move(first)
        self.producer()
        return {
            "fenced": self.fenced(first),
            "committed": self.values(self.name, "read_committed", 2 * COUNT),
            "all": len(self.values(self.name, "read_uncommitted", 3 * COUNT)),
            "moved": self.values(self.name + "-out", "read_committed", 2 * COUNT),
            "position": position,
        }

    def move(self, producer: Producer) -> int:
        consumer = self.consumer("read_committed")
        consumer.subscribe([self.name])
        moved = 0
        while moved < 2 * COUNT:
            messages = consumer.consume(100, 0.5)
            if not messages:
                continue
            producer.begin_transaction()
            for message in messages:
                producer.produce(self.name + "-out", message.value())
            moved += len(messages)
            positions = consumer.position(consumer.assignment())
            producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), TIMEOUT)
            producer.commit_transaction(TIMEOUT)
        (committed,) = consumer.committed(consumer.assignment(), TIMEOUT)
        consumer.close()
        return int(committed.offset)

    def fenced(self, producer: Producer) -> bool:
        try:
            producer.begin_transaction()
            producer.produce(self.name, "-1")
            producer.commit_transaction(TIMEOUT)
        except KafkaException as error:
            return bool(error.args[0].fatal())
        return False

    def values(self, topic: str, isolation: str, wanted: int) -> list[int]:
        consumer = self.consumer(isolation)
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[int] = []
        while len(found) < wanted:
            message = consumer.poll(TIMEOUT)
            assert message is not None, f"{len(found)} of {wanted} came"
            if not message.error():
                found.append(int(message.value() or b"-1"))
        consumer.close()
        return found


@pytest.mark.parametrize("release", RELEASES)
def test_confluent(bootstrap: str, name: str) -> None:
    assert Confluent(bootstrap, name).run() == EXPECTED


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize(("version", "release"), [("2.8.2", "4.4"), ("3.9.2", "3.9"), ("4.4.0", "4.4")])
def test_java(bootstrap: str, name: str, version: str) -> None:
    command = java.command(java.class_path(version), "Transactions", bootstrap, name, str(COUNT))
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * TIMEOUT, check=False)
    assert done.returncode == 0, done.stderr[-8000:]
    assert json.loads(done.stdout) == EXPECTED
