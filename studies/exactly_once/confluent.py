"""The application with librdkafka, as its documentation says to write it."""

import functools
import logging
import time
from collections.abc import Callable
from typing import Any, Final

from .case import BATCH, GROUP, INPUT, OUTPUT, PAUSE_MS, RECORDS, TRANSACTIONAL_ID

_SOON: Final = {
    "socket.timeout.ms": 1000,
    "retry.backoff.ms": 20,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 50,
    "topic.metadata.refresh.fast.interval.ms": 20,
    "logger": logging.Logger("exactly-once", logging.CRITICAL),
}
_OPERATION_S: Final = 5.0
_IDLE_S: Final = 4.0


class _AbortError(Exception):
    """The transaction has to be aborted."""


class _FatalError(Exception):
    """The producer is done for."""


class ConfluentApplication:
    bumps_epochs = False

    def __init__(self) -> None:
        import confluent_kafka

        self.name = f"librdkafka {confluent_kafka.libversion()[0]}"

    def move(self, bootstrap: str, limit_s: float) -> list[str]:
        return _Mover(bootstrap, time.monotonic() + limit_s).run()

    def stop(self) -> None: ...


class _Mover:
    def __init__(self, bootstrap: str, end: float) -> None:
        self.bootstrap, self.end = bootstrap, end
        self.errors: list[str] = []
        self.producer: Any = None
        self.subscribe()

    def subscribe(self) -> None:
        from confluent_kafka import Consumer

        self.read = time.monotonic()
        self.consumer: Any = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": GROUP,
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 50,
                **_SOON,
            }
        )
        self.consumer.subscribe([INPUT])

    def run(self) -> list[str]:
        try:
            while not self.all_moved():
                try:
                    if self.producer is None:
                        self.open()
                    self.move_some()
                except _AbortError:
                    self.abort()
                except _FatalError:
                    self.producer = None
        finally:
            self.consumer.close()
            self.producer = None
        return self.errors

    def open(self) -> None:
        from confluent_kafka import Producer

        self.producer = Producer(
            {"bootstrap.servers": self.bootstrap, "transactional.id": TRANSACTIONAL_ID, **_SOON}
            | {"transaction.timeout.ms": 20_000, "message.timeout.ms": 10_000, "request.timeout.ms": 1000}
        )
        self.ask(lambda: self.producer.init_transactions(_OPERATION_S))
        self.rewind()

    def move_some(self) -> None:
        messages = [each for each in self.consumer.consume(BATCH, 0.1) if not each.error()]
        if not messages:
            if time.monotonic() > self.read + _IDLE_S:
                # An OffsetFetch that was refused while partitions are assigned is never sent again.
                self.errors.append("idle")
                self.consumer.close()
                self.subscribe()
            return
        self.read = time.monotonic()
        self.ask(self.producer.begin_transaction)
        for index, message in enumerate(messages):
            if index == len(messages) // 2:
                self.producer.flush(PAUSE_MS / 1000)
                time.sleep(PAUSE_MS / 1000)
            self.ask(
                functools.partial(
                    self.producer.produce, OUTPUT, message.value(), partition=message.partition()
                )
            )
        positions = self.consumer.position(self.consumer.assignment())
        group = self.consumer.consumer_group_metadata()
        self.ask(lambda: self.producer.send_offsets_to_transaction(positions, group, _OPERATION_S))
        self.ask(lambda: self.producer.commit_transaction(_OPERATION_S))

    def abort(self) -> None:
        try:
            self.ask(lambda: self.producer.abort_transaction(_OPERATION_S))
            self.rewind()
        except (_AbortError, _FatalError):
            self.producer = None

    def rewind(self) -> None:
        """Back to what is committed."""
        from confluent_kafka import KafkaException

        while assignment := self.consumer.assignment():
            self.check_time()
            try:
                for each in self.consumer.committed(assignment, _OPERATION_S):
                    each.offset = max(each.offset, 0)
                    self.consumer.seek(each)
                return
            except KafkaException as error:
                self.note(error)

    def all_moved(self) -> bool:
        from confluent_kafka import KafkaException

        self.check_time()
        assignment = self.consumer.assignment()
        if sum(max(each.offset, 0) for each in self.consumer.position(assignment)) < RECORDS:
            return False
        try:
            committed = self.consumer.committed(assignment, _OPERATION_S)
        except KafkaException as error:
            self.note(error)
            return False
        return bool(sum(max(each.offset, 0) for each in committed) == RECORDS)

    def ask(self, operation: Callable[[], object]) -> None:
        """Does it again while it may be tried again."""
        from confluent_kafka import KafkaException

        while True:
            self.check_time()
            try:
                operation()
                return
            except BufferError:
                self.producer.poll(0.05)
            except KafkaException as raised:
                error = raised.args[0]
                self.note(raised)
                if error.fatal():
                    raise _FatalError from None
                if error.txn_requires_abort():
                    raise _AbortError from None
                if not error.retriable():
                    raise _FatalError from None

    def note(self, error: Any) -> None:
        self.errors.append(error.args[0].name())

    def check_time(self) -> None:
        if time.monotonic() > self.end:
            raise TimeoutError(f"not all were moved; its errors were {', '.join(self.errors) or 'none'}")
