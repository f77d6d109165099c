"""kafka-python in the scenario."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from . import scenario
from .scenario import BATCH, PARTITIONS, SESSION_MS, TIMEOUT, Plan, Record

with warnings.catch_warnings():  # its import uses a deprecated function of Python
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka import ConsumerRebalanceListener as ConsumerRebalanceListener
    from kafka import KafkaAdminClient
    from kafka import KafkaConsumer as KafkaConsumer
    from kafka import KafkaProducer as KafkaProducer
    from kafka import OffsetAndMetadata as OffsetAndMetadata
    from kafka import TopicPartition as TopicPartition
    from kafka.codec import has_gzip, has_lz4, has_snappy, has_zstd
    from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
    from kafka.coordinator.assignors.range import RangePartitionAssignor as RangePartitionAssignor
    from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
    from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
    from kafka.errors import CommitFailedError as CommitFailedError
    from kafka.errors import KafkaConnectionError as KafkaConnectionError
    from kafka.errors import NodeNotReadyError as NodeNotReadyError
    from kafka.errors import RebalanceInProgressError as RebalanceInProgressError

T = TypeVar("T")
ASSIGNORS = {
    assignor.name: assignor
    for assignor in (
        RangePartitionAssignor,
        RoundRobinPartitionAssignor,
        StickyPartitionAssignor,
        CooperativeStickyAssignor,
    )
}
PACKAGES = {"snappy": "python-snappy", "lz4": "lz4", "zstd": "zstandard"}
HAS = {"none": lambda: True, "gzip": has_gzip, "snappy": has_snappy, "lz4": has_lz4, "zstd": has_zstd}


class Member:
    """A consumer in a thread of its own: short polls in turn with another's would cut its rebalances off.

    Commits by itself when a rebalance begins, and never else.
    """

    def __init__(self, bootstrap: str, plan: Plan, instance: str) -> None:
        self._topic = plan.topic
        self._consumer = KafkaConsumer(
            plan.topic,
            bootstrap_servers=bootstrap,
            group_id=plan.group,
            group_instance_id=f"{plan.group}-{instance}" if plan.static else None,
            partition_assignment_strategy=[ASSIGNORS[plan.assignor]],
            auto_offset_reset="earliest",
            auto_commit_interval_ms=600_000,
            heartbeat_interval_ms=200,
            session_timeout_ms=SESSION_MS,
        )
        # A consumer that joins before it knows its topic joins again when it does, and 3.0.12 forgets to
        # finish that second rebalance when a poll times out in the midst of it.
        assert self._consumer.partitions_for_topic(plan.topic)
        self._polled: SimpleQueue[list[Record] | BaseException] = SimpleQueue()
        self._wanted = threading.Semaphore(2)
        self._jobs: SimpleQueue[tuple[Future[Any], Callable[[], Any]]] = SimpleQueue()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            while not self._closing.is_set():
                if self._wanted.acquire(timeout=0.05):
                    self._polled.put(self._poll())
                while not self._jobs.empty():
                    done, job = self._jobs.get()
                    try:
                        done.set_result(job())
                    except BaseException as error:
                        done.set_exception(error)
        except BaseException as error:
            self._polled.put(error)

    def _poll(self) -> list[Record]:
        return [
            Record(record.partition, record.offset, record.key, record.value)
            for records in self._consumer.poll(timeout_ms=200, max_records=BATCH).values()
            for record in records
        ]

    def _call(self, job: Callable[[], T]) -> T:
        done: Future[T] = Future()
        self._jobs.put((done, job))
        return done.result(TIMEOUT)

    @property
    def assigned(self) -> frozenset[int]:
        return frozenset(partition.partition for partition in self._consumer.assignment())

    def poll(self) -> list[Record]:
        try:
            polled = self._polled.get(timeout=0.05)
        except Empty:
            return []
        self._wanted.release()
        if isinstance(polled, BaseException):
            raise polled
        return polled

    def hold(self) -> None:
        self._call(lambda: self._consumer.pause(*self._consumer.assignment()))

    def release(self) -> None:
        self._call(lambda: self._consumer.resume(*self._consumer.assignment()))

    def commit(self) -> None:
        self._call(self._consumer.commit)

    def committed(self) -> dict[int, int]:
        return {p: self._consumer.committed(TopicPartition(self._topic, p)) for p in self.assigned}

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        self._consumer.close()


class Client:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def create(self, topic: str) -> None:
        admin = KafkaAdminClient(bootstrap_servers=self._bootstrap)
        try:
            shape = {"num_partitions": PARTITIONS, "replication_factor": 3}
            admin.create_topics({topic: shape}, wait_for_metadata=True)
        finally:
            admin.close()

    def log_dirs(self) -> list[dict[str, Any]]:
        """What DescribeLogDirs answers, by broker."""
        admin = KafkaAdminClient(bootstrap_servers=self._bootstrap)
        try:
            return list(admin.describe_log_dirs())
        finally:
            admin.close()

    def produce(self, plan: Plan, indexes: range) -> None:
        producer = KafkaProducer(
            bootstrap_servers=self._bootstrap,
            compression_type=None if plan.codec == "none" else plan.codec,
            enable_idempotence=plan.idempotent,
            acks="all",
            linger_ms=20,
        )
        try:
            sent = [
                producer.send(
                    plan.topic, key=scenario.key(i), value=scenario.value(i), partition=i % PARTITIONS
                )
                for i in indexes
            ]
            producer.flush(TIMEOUT)
            for future in sent:
                future.get(timeout=TIMEOUT)
        finally:
            producer.close()

    def member(self, plan: Plan, instance: str) -> Member:
        return Member(self._bootstrap, plan, instance)
