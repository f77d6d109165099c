"""Kafka Streams counts words while lines are written and the counts are read."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from confluent_kafka import Consumer, Message, Producer, TopicPartition

from incidents.streams import WORD_COUNT
from mockbroker.clients.drivers.shipped import LOG_LEVEL

from . import java
from .scenario import TIMEOUT

VERSION = "4.3.1"
APPLICATION = "word-count"
LINES, COUNTS = "lines", "counts"
REPARTITION, CHANGELOG = f"{APPLICATION}-words-repartition", f"{APPLICATION}-totals-changelog"
PARTITIONS = 2
AHEAD = 200
"""So many words more are written than counted."""
WORDS = [f"word-{number}" for number in range(23)]

SOON = {
    "commit.interval.ms": 50,
    "poll.ms": 20,
    "heartbeat.interval.ms": 200,
    "retry.backoff.ms": 20,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 50,
    "repartition.purge.interval.ms": 200,
    "session.timeout.ms": 3000,
    "producer.transaction.timeout.ms": 3000,
}
"""Makes Streams act soon; leaves out nothing that it does."""
CONFIG = {
    "default.replication.factor": "3",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
    "group.min.session.timeout.ms": "1000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
}


STREAMS: Final = {"group.protocol": "streams"}
"""The protocol of KIP-1071."""
STREAMS_CONFIG: Final = {
    **CONFIG,
    "group.streams.min.heartbeat.interval.ms": "200",
    "group.streams.heartbeat.interval.ms": "200",
    "group.streams.min.session.timeout.ms": "1000",
    "group.streams.session.timeout.ms": "3000",
    "group.streams.initial.rebalance.delay.ms": "0",
}
_CLASSIC_ONLY: Final = ("session.timeout.ms", "heartbeat.interval.ms")
"""With the protocol of KIP-1071 the broker decides these."""


class Instances:
    """Instances of the application in one JVM, of that release of Kafka Streams; `settings` are added."""

    def __init__(
        self,
        bootstrap: str,
        folder: Path,
        version: str = VERSION,
        settings: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._bootstrap = bootstrap
        self._folder = folder
        self._settings = {**SOON, **settings}
        if "group.protocol" in settings:
            self._settings = {k: v for k, v in self._settings.items() if k not in _CLASSIC_ONLY}
        self.states: dict[str, str] = {}
        self.errors: list[str] = []
        classes = java.class_path(version, WORD_COUNT)
        self.program = java.JavaProgram(classes, "WordCount", [f"{LOG_LEVEL}=off"], self._event)

    def open(self, name: str) -> None:
        config = {
            "bootstrap.servers": self._bootstrap,
            "application.id": APPLICATION,
            "client.id": name,
            "processing.guarantee": "exactly_once_v2",
            "state.dir": str(self._folder / name),
            **self._settings,
        }
        self.program.tell("open", name, LINES, COUNTS, *(f"{key}={value}" for key, value in config.items()))

    def close(self, name: str) -> None:
        """It leaves the group."""
        self.program.tell("close", name)

    def running(self, *names: str) -> bool:
        """Whether they have what they are assigned. No instance may fail, ever."""
        assert not self.errors, self.errors
        return all(self.states.get(name) == "RUNNING" for name in names)

    def closed(self, name: str) -> bool:
        return self.states.get(name) == "NOT_RUNNING"

    def _event(self, event: dict[str, Any]) -> None:
        if error := event.get("error"):
            self.errors.append(f"{event['name']}: {error}")
        else:
            self.states[event["name"]] = event["state"]


class Text:
    """Writes lines, and reads the counts that are committed."""

    def __init__(self, bootstrap: str) -> None:
        self._random = random.Random(0)
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 1, "log_level": 0}
        )
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "reader",
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 50,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(COUNTS, index, 0) for index in range(PARTITIONS)])
        self.written: Counter[str] = Counter()
        self.counts: defaultdict[str, list[int]] = defaultdict(list)
        """What was read of each word, in that order."""
        self.read = 0

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Writes and reads until that holds."""
        end = time.monotonic() + TIMEOUT
        while not holds():
            assert time.monotonic() < end, f"no {what}; {self.read} of {self.written.total()} counted"
            if self.written.total() - self.read < AHEAD:
                self.write()
            self._poll()

    def go_on(self, count: int = 100) -> None:
        """Writes, until so many more words are counted."""
        wanted = self.read + count
        self.until(f"{count} counts more", lambda: self.read >= wanted)

    def write(self) -> None:
        words = self._random.choices(WORDS, k=self._random.randint(1, 9))
        self._producer.produce(LINES, " ".join(words))
        self.written.update(words)

    def finish(self) -> None:
        """Reads until all that was written is counted."""
        assert self._producer.flush(TIMEOUT) == 0
        end = time.monotonic() + TIMEOUT
        while self.read < self.written.total():
            assert time.monotonic() < end, f"{self.read} of {self.written.total()} counted"
            self._poll()

    def expected(self) -> dict[str, list[int]]:
        """The counts when each word is counted once."""
        return {word: [*range(1, count + 1)] for word, count in self.written.items()}

    def close(self) -> None:
        self._consumer.close()

    def _poll(self) -> None:
        self._producer.poll(0)
        for message in self._consumer.consume(1000, 0.02):
            self._note(message)

    def _note(self, message: Message) -> None:
        assert message.error() is None, message.error()
        key, value = message.key(), message.value()
        assert key is not None
        assert value is not None
        self.counts[key.decode()].append(int(value))
        self.read += 1
