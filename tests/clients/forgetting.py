"""Producers whose partition forgets them or loses their records, and what becomes of what they send then."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from confluent_kafka import KafkaException, Producer

from mockbroker import MockCluster
from mockbroker.conformance.clients.consumer import wait_for
from mockbroker.conformance.clients.producers import JavaProducers
from mockbroker.protocol import record_batch

from .scenario import TIMEOUT

TOPIC = "t"
CONFIG = {
    "default.replication.factor": "2",
    "replica.lag.time.max.ms": "200",
    "unclean.leader.election.enable": "true",
}
AFTERWARDS = 2
"""So many records are sent when all has happened: an error may hit the first alone, or all."""
_numbers = itertools.count()


class Identity(NamedTuple):
    """As what a batch was written."""

    producer_id: int
    epoch: int
    next_sequence: int


class Sender(Protocol):
    """A producer that sends one record after the other."""

    def send(self, value: str) -> int | str:
        """The record's offset, or the name of an error."""

    def recover(self) -> str:
        """What a transaction takes to go on after an error, or to end: empty when there is none."""


class JavaSender:
    """A producer of kafka-clients, with a transaction if it is to have one."""

    def __init__(self, client: JavaProducers, bootstrap: str, *, transactional: bool) -> None:
        self.transactional = transactional
        name = f"p{next(_numbers)}"
        config = {"transactional.id": name} if transactional else {}
        self.producer = client.open(name, bootstrap, config)
        if transactional:
            assert self.producer.ask("init").error == ""
            assert self.producer.ask("begin").error == ""

    def send(self, value: str) -> int | str:
        reply = self.producer.send(TOPIC, value).result(TIMEOUT)
        return reply.error or reply.offset

    def close(self) -> None:
        self.producer.ask("close")


class ConfluentSender:
    """librdkafka's producer. An error that is the end of it is called `fatal`."""

    def __init__(self, bootstrap: str) -> None:
        self.outcomes: list[Any] = []
        self.producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "topic.metadata.refresh.interval.ms": 200,
                "logger": logging.getLogger(__name__),
            }
        )

    def delivered(self, error: Any, message: Any) -> None:
        self.outcomes.append(error.name() if error else message.offset())

    def send(self, value: str) -> int | str:
        self.outcomes.clear()
        try:
            self.producer.produce(TOPIC, value, partition=0, on_delivery=self.delivered)
            self.producer.flush(TIMEOUT)
        except (KafkaException, SystemError):
            # A fatal error is raised from wherever it is noticed.
            self.outcomes.append("fatal")
        return self.outcomes[0]

    def close(self):
        pass
