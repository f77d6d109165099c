"""A member of the group, for each client: reads, commits what it has read, and leaves when it is told to.

Sometimes it leaves a commit to its next turn, so that there is something to read again.
"""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from random import Random
from typing import Any

import aiokafka
import confluent_kafka
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from confluent_kafka import KafkaError, KafkaException

from .. import kafka_python
from .journal import Assigned, Committed, Committing, Journal, Read

BATCH = 20
TURN_S = 0.2
LATER = 0.2
"""How likely a commit is left to the next turn."""
SESSION_MS = 3_000
HEARTBEAT_MS = 200


@dataclass(frozen=True)
class Group:
    """What all members have in common."""

    bootstrap: str
    topic: str
    name: str
    journal: Journal


class Member(ABC):
    """`vanishes`: its LeaveGroup will not arrive, so it does not commit before it goes either."""

    client: str

    def __init__(self, group: Group, name: str, seed: int, *, vanishes: bool) -> None:
        self.group, self.vanishes = group, vanishes
        self.name = f"{'vanishes' if vanishes else 'leaves'}-{name}-{self.client}"
        self.leaving = threading.Event()
        self._random = Random(seed)
        self._next: dict[int, int] = {}

    @abstractmethod
    def start(self) -> Future[None]:
        """Joins; the future is done once it has left."""

    def assigned(self, partitions: Iterable[Any]) -> None:
        self._next = {}
        self.group.journal.note(Assigned(self.name, frozenset(each.partition for each in partitions)))

    def to_commit(self, records: Sequence[tuple[int, int, int]]) -> dict[int, int]:
        """Notes records (partition, offset, number); what is to be committed now, by partition."""
        self.group.journal.note(*(Read(self.name, *each) for each in records))
        self._next |= {partition: offset + 1 for partition, offset, _ in records}
        return {} if records and self._random.random() < LATER else self.remaining()

    def remaining(self) -> dict[int, int]:
        offsets = dict(self._next)
        if offsets:
            self.group.journal.note(Committing(self.name, offsets))
        return offsets

    def committed(self, offsets: dict[int, int]) -> None:
        self.group.journal.note(Committed(self.name, offsets))
        self._next = {p: offset for p, offset in self._next.items() if offset != offsets.get(p)}

    def raised(self, error: str) -> None:
        self.group.journal.raised(self.client, error)


class Threaded(Member):
    """A member whose client blocks."""

    def start(self) -> Future[None]:
        left: Future[None] = Future()

        def run() -> None:
            try:
                self.run()
            except BaseException as error:
                self.group.journal.failed(error)
            finally:
                left.set_result(None)

        threading.Thread(target=run, name=self.name, daemon=True).start()
        return left

    @abstractmethod
    def run(self) -> None: ...


class Confluent(Threaded):
    client = "confluent-kafka"
    ALLOWED = frozenset(
        {
            KafkaError._NO_OFFSET,
            KafkaError._WAIT_COORD,
            KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
            KafkaError.COORDINATOR_NOT_AVAILABLE,
            KafkaError.ILLEGAL_GENERATION,
            KafkaError.NOT_COORDINATOR,
            KafkaError.UNKNOWN_MEMBER_ID,
            KafkaError.REBALANCE_IN_PROGRESS,
        }
    )

    def run(self) -> None:
        self._consumer = confluent_kafka.Consumer(
            {
                "bootstrap.servers": self.group.bootstrap,
                "client.id": self.name,
                "group.id": self.group.name,
                "partition.assignment.strategy": "range",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "heartbeat.interval.ms": HEARTBEAT_MS,
                "session.timeout.ms": SESSION_MS,
                "log_level": 0,
            }
        )
        try:
            self._consumer.subscribe([self.group.topic], on_assign=self._assigned, on_revoke=self._revoked)
            while not self.leaving.is_set():
                self._commit(self.to_commit([*self._records(self._consumer.consume(BATCH, TURN_S))]))
        finally:
            self._consumer.close()

    def _records(self, messages: Iterable[confluent_kafka.Message]) -> Iterator[tuple[int, int, int]]:
        for message in messages:
            if error := message.error():
                self._check(error)
                continue
            partition, offset, value = message.partition(), message.offset(), message.value()
            assert partition is not None
            assert offset is not None
            assert value is not None
            yield partition, offset, int(value)

    def _check(self, error: KafkaError) -> None:
        if error.code() not in self.ALLOWED:
            raise KafkaException(error)
        self.raised(error.name())

    def _assigned(self, _: object, partitions: Sequence[confluent_kafka.TopicPartition]) -> None:
        self.assigned(partitions)

    def _revoked(self, *_: object) -> None:
        if not (self.vanishes and self.leaving.is_set()):
            self._commit(self.remaining())
        self._next = {}

    def _commit(self, offsets: dict[int, int]) -> None:
        if not offsets:
            return
        wanted = [confluent_kafka.TopicPartition(self.group.topic, p, at) for p, at in offsets.items()]
        try:
            done = self._consumer.commit(offsets=wanted, asynchronous=False)
            if failed := [each.error for each in done or () if each.error]:
                raise KafkaException(failed[0])
        except KafkaException as error:
            self._check(error.args[0])
        else:
            self.committed(offsets)


class KafkaPython(Threaded, kafka_python.ConsumerRebalanceListener):  # type: ignore[misc]
    """Its calls raise `UNREACHABLE` if the broker that they ask is down, and succeed later."""

    client = "kafka-python"
    UNREACHABLE = (kafka_python.KafkaConnectionError, kafka_python.NodeNotReadyError)

    def run(self) -> None:
        consumer = kafka_python.KafkaConsumer(
            bootstrap_servers=self.group.bootstrap,
            client_id=self.name,
            group_id=self.group.name,
            partition_assignment_strategy=[kafka_python.RangePartitionAssignor],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=HEARTBEAT_MS,
            session_timeout_ms=SESSION_MS,
        )
        try:
            consumer.subscribe([self.group.topic], listener=self)
            # As for `kafka_python.Member`: it joins once it knows its topic.
            while not self._known(consumer):
                self.raised("knows no topic yet")
            while not self.leaving.is_set():
                self._commit(consumer, self.to_commit([*self._poll(consumer)]))
        finally:
            consumer.close()

    def _known(self, consumer: kafka_python.KafkaConsumer) -> bool:
        try:
            return bool(consumer.partitions_for_topic(self.group.topic))
        except self.UNREACHABLE as error:
            self.raised(type(error).__name__)
            return False

    def _poll(self, consumer: kafka_python.KafkaConsumer) -> Iterator[tuple[int, int, int]]:
        try:
            polled = consumer.poll(timeout_ms=int(1000 * TURN_S), max_records=BATCH)
        except self.UNREACHABLE as error:
            self.raised(type(error).__name__)
            return
        for records in polled.values():
            for each in records:
                yield each.partition, each.offset, int(each.value)

    def on_partitions_assigned(self, assigned: Collection[kafka_python.TopicPartition]) -> None:
        """What was read from partitions that stay is still to be committed: the client keeps its position
        there, and reads none of it again."""
        again = {each.partition for each in assigned}
        uncommitted = {partition: at for partition, at in self._next.items() if partition in again}
        self.assigned(assigned)
        self._next = uncommitted

    def on_partitions_revoked(self, revoked: Collection[kafka_python.TopicPartition]) -> None:
        """Commits nothing: this is the thread that would have to send it."""

    def on_partitions_lost(self, lost: Collection[kafka_python.TopicPartition]) -> None:
        self._next = {}

    def _commit(self, consumer: kafka_python.KafkaConsumer, offsets: dict[int, int]) -> None:
        if not offsets:
            return
        wanted = {
            kafka_python.TopicPartition(self.group.topic, p): kafka_python.OffsetAndMetadata(at, "", -1)
            for p, at in offsets.items()
        }
        try:
            consumer.commit(wanted)
        except (kafka_python.CommitFailedError, kafka_python.RebalanceInProgressError) as error:
            self.raised(type(error).__name__)
        else:
            self.committed(offsets)


class Aiokafka(Member, aiokafka.ConsumerRebalanceListener):  # type: ignore[misc]
    """One of many in an event loop. A rebalance waits for the commit that it comes into: otherwise the client
    could repeat that commit in the next generation, when another member has the partition. It can't wait for
    `getmany`, which waits for the rebalance, however short its timeout is.
    """

    client = "aiokafka"

    def __init__(
        self, loop: asyncio.AbstractEventLoop, group: Group, name: str, seed: int, *, vanishes: bool
    ) -> None:
        super().__init__(group, name, seed, vanishes=vanishes)
        self._loop = loop

    def start(self) -> Future[None]:
        return asyncio.run_coroutine_threadsafe(self._guarded(), self._loop)

    async def _guarded(self) -> None:
        try:
            await self._run()
        except BaseException as error:
            self.group.journal.failed(error)

    async def _run(self) -> None:
        self._turn = asyncio.Lock()
        self._generations = 0
        self._consumer = consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=self.group.bootstrap,
            client_id=self.name,
            group_id=self.group.name,
            partition_assignment_strategy=[RangePartitionAssignor],
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            heartbeat_interval_ms=HEARTBEAT_MS,
            session_timeout_ms=SESSION_MS,
        )
        consumer.subscribe([self.group.topic], listener=self)
        try:
            await consumer.start()
            while not self.leaving.is_set():
                polled = await consumer.getmany(timeout_ms=int(1000 * TURN_S), max_records=BATCH)
                generations = self._generations
                async with self._turn:
                    if generations != self._generations:
                        continue
                    found = [
                        (each.partition, each.offset, int(each.value))
                        for records in polled.values()
                        for each in records
                    ]
                    await self._commit(self.to_commit(found))
        finally:
            await consumer.stop()

    async def on_partitions_assigned(self, assigned: Iterable[aiokafka.TopicPartition]) -> None:
        self.assigned(assigned)

    async def on_partitions_revoked(self, revoked: Iterable[aiokafka.TopicPartition]) -> None:
        async with self._turn:
            await self._commit(self.remaining())
            self._next = {}
            self._generations += 1

    async def _commit(self, offsets: dict[int, int]) -> None:
        if not offsets:
            return
        try:
            await self._consumer.commit(
                {aiokafka.TopicPartition(self.group.topic, p): at for p, at in offsets.items()}
            )
        except (aiokafka.errors.CommitFailedError, aiokafka.errors.IllegalStateError) as error:
            self.raised(type(error).__name__)
        else:
            self.committed(offsets)
