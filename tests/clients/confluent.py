"""confluent-kafka (librdkafka) in the scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from . import scenario
from .scenario import BATCH, PARTITIONS, SESSION_MS, TIMEOUT, Plan, Record


class Member:
    def __init__(self, conf: Mapping[str, object], topic: str) -> None:
        self._topic = topic
        self._consumer = Consumer(dict(conf))
        self._consumer.subscribe([topic], on_revoke=self._revoked)

    def _revoked(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        self.commit()

    @property
    def assigned(self) -> frozenset[int]:
        return frozenset(partition.partition for partition in self._consumer.assignment())

    def poll(self) -> list[Record]:
        return [record(message) for message in self._consumer.consume(BATCH, 0.05)]

    def hold(self) -> None:
        self._consumer.pause(self._consumer.assignment())

    def release(self) -> None:
        self._consumer.resume(self._consumer.assignment())

    def commit(self) -> None:
        try:
            self._consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._NO_OFFSET:  # nothing read since
                raise

    def committed(self) -> dict[int, int]:
        partitions = self._consumer.committed(self._consumer.assignment(), TIMEOUT)
        return {partition.partition: partition.offset for partition in partitions}

    def close(self) -> None:
        self._consumer.close()


class Client:
    def __init__(self, bootstrap: str, **conf: object) -> None:
        self._conf: dict[str, Any] = {"bootstrap.servers": bootstrap, **conf}

    def create(self, topic: str) -> None:
        admin = AdminClient(self._conf)
        for done in admin.create_topics([NewTopic(topic, PARTITIONS, 3)]).values():
            done.result(TIMEOUT)

    def produce(self, plan: Plan, indexes: range) -> None:
        errors = []

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error:
                errors.append(error)

        conf = {"compression.type": plan.codec, "enable.idempotence": plan.idempotent, "linger.ms": 20}
        producer = Producer(self._conf | conf)
        for i in indexes:
            producer.produce(
                plan.topic,
                key=scenario.key(i),
                value=scenario.value(i),
                partition=i % PARTITIONS,
                on_delivery=delivered,
            )
        assert producer.flush(TIMEOUT) == 0
        assert not errors

    def member(self, plan: Plan, instance: str) -> Member:
        conf = {
            "group.id": plan.group,
            "partition.assignment.strategy": plan.assignor,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "heartbeat.interval.ms": 200,
            "session.timeout.ms": SESSION_MS,
        }
        if plan.static:
            conf["group.instance.id"] = f"{plan.group}-{instance}"
        return Member(self._conf | conf, plan.topic)


def record(message: Message) -> Record:
    if error := message.error():
        raise KafkaException(error)
    partition, offset, key, value = message.partition(), message.offset(), message.key(), message.value()
    assert isinstance(partition, int)
    assert isinstance(offset, int)
    assert isinstance(key, bytes)
    assert isinstance(value, bytes)
    return Record(partition, offset, key, value)
