"""Transactions end to end: two commits and an abort, records moved with their offsets, a fenced producer."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

from mockbroker.clients.drivers.in_thread import Client as Driven
from mockbroker.clients.drivers.in_thread import taken

from .. import needs
from ..turns import in_turn
from .driven import LIMIT_MS, Client
from .scenario import TIMEOUT

COUNT = 20
COMMITTED = [*range(COUNT), *range(2 * COUNT, 3 * COUNT)]
RELEASES = ["0.11", "2.4", "2.5", "3.5", "3.9", "4.4"]
JAVA = [("2.8.2", "4.4"), ("3.9.2", "3.9"), ("4.4.0", "4.4")]
"""Versions of the client, each with a release of brokers."""
EXPECTED = {
    "committed": COMMITTED,
    "all": 3 * COUNT,
    "moved": COMMITTED,
    # Each of the three transactions has a marker.
    "position": 3 * COUNT + 3,
    "fenced": True,
}
FENCED: Final = ("ProducerFencedException", "InvalidProducerEpochException")
Clients = Callable[..., Driven]


class Scene:
    """What one client does."""

    def __init__(self, driven: Driven, bootstrap: str, name: str) -> None:
        self.driven, self.name = driven, name
        self.client = Client(driven, bootstrap)

    def producer(self) -> str:
        config = {"transactional.id": self.name, "enable.idempotence": True}
        return self.client.open("producer", config)

    def consumer(self, isolation: str) -> str:
        config = {"group.id": self.name, "isolation.level": isolation, "enable.auto.commit": False}
        return self.client.open("consumer", {**config, "auto.offset.reset": "earliest"})

    def call(self, verb: str, handle: str, **fields: Any) -> Any:
        return self.driven.call(verb, handle, LIMIT_MS, **fields)

    def run(self) -> dict[str, Any]:
        for topic in (self.name, self.name + "-out"):
            self.client.create(topic, partitions=1)
        first = self.producer()
        for round_ in range(3):
            self.driven.call("begin", first)
            for i in range(COUNT):
                self.client.send(first, self.name, b"%d" % (round_ * COUNT + i))
            if round_ == 1:
                self.call("flush", first)
            self.call("abort-transaction" if round_ == 1 else "commit-transaction", first)
        position = self.move(first)
        self.producer()
        return {
            "fenced": self.fenced(first),
            "committed": self.values(self.name, "read_committed", 2 * COUNT),
            "all": len(self.values(self.name, "read_uncommitted", 3 * COUNT)),
            "moved": self.values(self.name + "-out", "read_committed", 2 * COUNT),
            "position": position,
        }

    def read(self, consumer: str, wanted: int) -> Iterator[list[bytes]]:
        """The values of each poll that returns some, until there are so many."""
        found = 0
        while found < wanted:
            polled = self.driven.call("poll", consumer, 500)
            assert not polled.get("errors"), polled["errors"]
            values = [base64.b64decode(each["value"]) for each in polled["records"]]
            found += len(values)
            if values:
                yield values

    def move(self, producer: str) -> int:
        """Takes all committed records to the other topic, and says how far the group is then."""
        consumer, partitions = self.consumer("read_committed"), [[self.name, 0]]
        self.driven.call("subscribe", consumer, topics=[self.name])
        for values in self.read(consumer, 2 * COUNT):
            self.driven.call("begin", producer)
            for value in values:
                self.client.send(producer, self.name + "-out", value)
            offsets = self.call("position", consumer, partitions=partitions)["offsets"]
            self.call("send-offsets", producer, offsets=offsets, consumer=consumer)
            self.call("commit-transaction", producer)
        ((_, _, committed),) = self.call("committed", consumer, partitions=partitions)["offsets"]
        self.client.close(consumer)
        return int(committed)

    def fenced(self, producer: str) -> bool:
        """Whether a producer whose transactional id another one has got hears of it."""
        begun = self.driven.send("begin", producer)
        self.client.send(producer, self.name, b"-1")
        ended = self.driven.send("commit-transaction", producer, LIMIT_MS)
        errors = [error for each in (begun, ended) if (error := each.result(TIMEOUT).error) is not None]
        return any(each.fatal or each.name in FENCED for each in errors)

    def values(self, topic: str, isolation: str, wanted: int) -> list[int]:
        consumer = self.consumer(isolation)
        taken(self.driven.send("assign", consumer, partitions=[[topic, 0, 0]]).result(TIMEOUT))
        found = [int(value) for values in self.read(consumer, wanted) for value in values]
        self.client.close(consumer)
        return found


@pytest.mark.parametrize("release", in_turn(RELEASES, 2))
def test_confluent(clients: Clients, bootstrap: str, name: str) -> None:
    assert Scene(clients("confluent-kafka"), bootstrap, name).run() == EXPECTED


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize(("version", "release"), in_turn(JAVA, 3))
def test_java(clients: Clients, bootstrap: str, name: str, version: str) -> None:
    assert Scene(clients("java", version), bootstrap, name).run() == EXPECTED
