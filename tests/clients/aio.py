"""aiokafka in the scenario: its event loop runs in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, Self, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from . import scenario
from .scenario import BATCH, PARTITIONS, SESSION_MS, TIMEOUT, Plan, Record

T = TypeVar("T")
ASSIGNORS = {
    assignor.name: assignor
    for assignor in (RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor)
}


class Loop:
    """Runs coroutines for threads."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def run(self, job: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(job, self.loop).result(TIMEOUT)

    def call(self, function: Callable[..., T], *args: object) -> T:
        async def job() -> T:
            return function(*args)

        return self.run(job())


class CommitWhenRevoked(ConsumerRebalanceListener):  # type: ignore[misc]
    def __init__(self, consumer: AIOKafkaConsumer) -> None:
        self._consumer = consumer

    async def on_partitions_revoked(self, revoked: Iterable[TopicPartition]) -> None:
        if revoked:
            await self._consumer.commit()

    async def on_partitions_assigned(self, assigned: Iterable[TopicPartition]) -> None:
        pass


class Member:
    def __init__(self, loop: Loop, consumer: AIOKafkaConsumer, topic: str) -> None:
        self._loop, self._consumer = loop, consumer
        loop.call(lambda: consumer.subscribe([topic], listener=CommitWhenRevoked(consumer)))
        loop.run(consumer.start())

    @property
    def assigned(self) -> frozenset[int]:
        return frozenset(partition.partition for partition in self._consumer.assignment())

    def poll(self) -> list[Record]:
        batches = self._loop.run(self._consumer.getmany(timeout_ms=50, max_records=BATCH))
        return [
            Record(record.partition, record.offset, record.key, record.value)
            for records in batches.values()
            for record in records
        ]

    def hold(self) -> None:
        self._loop.call(self._consumer.pause, *self._consumer.assignment())

    def release(self) -> None:
        self._loop.call(self._consumer.resume, *self._consumer.assignment())

    def commit(self) -> None:
        self._loop.run(self._consumer.commit())

    def committed(self) -> dict[int, int]:
        return {p.partition: self._loop.run(self._consumer.committed(p)) for p in self._consumer.assignment()}

    def close(self) -> None:
        self._loop.run(self._consumer.stop())


class Client:
    def __init__(self, loop: Loop, bootstrap: str) -> None:
        self._loop, self._bootstrap = loop, bootstrap

    def create(self, topic: str) -> None:
        self._loop.run(self._create(topic))

    async def _create(self, topic: str) -> None:
        admin = AIOKafkaAdminClient(bootstrap_servers=self._bootstrap)
        await admin.start()
        try:
            answer = await admin.create_topics([NewTopic(topic, PARTITIONS, 3)])
            assert [error for _, error, *_ in answer.topic_errors] == [0], answer
        finally:
            await admin.close()

    def produce(self, plan: Plan, indexes: range) -> None:
        self._loop.run(self._produce(plan, indexes))

    async def _produce(self, plan: Plan, indexes: range) -> None:
        producer = AIOKafkaProducer(
            bootstrap_servers=self._bootstrap,
            compression_type=None if plan.codec == "none" else plan.codec,
            enable_idempotence=plan.idempotent,
            acks="all",
            linger_ms=20,
        )
        await producer.start()
        try:
            sent = [
                await producer.send(
                    plan.topic, key=scenario.key(i), value=scenario.value(i), partition=i % PARTITIONS
                )
                for i in indexes
            ]
            await asyncio.gather(*sent)
        finally:
            await producer.stop()

    def member(self, plan: Plan, instance: str) -> Member:
        return Member(self._loop, self._loop.run(self._consumer(plan, instance)), plan.topic)

    async def _consumer(self, plan: Plan, instance: str) -> AIOKafkaConsumer:
        return AIOKafkaConsumer(
            bootstrap_servers=self._bootstrap,
            group_id=plan.group,
            group_instance_id=f"{plan.group}-{instance}" if plan.static else None,
            partition_assignment_strategy=[ASSIGNORS[plan.assignor]],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=200,
            session_timeout_ms=SESSION_MS,
        )
