"""The Java producer: one JVM for each version, driven over pipes, with any number of producers."""

import itertools
import re
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final, NamedTuple

from mockbroker.clients.drivers import building

from .consumer import LIMIT_S
from .java import LOG_LEVEL, PROJECT, JavaProgram

_CLIENT_ID: Final = re.compile(r"\[Producer clientId=([^,\]]+)[^\]]*\] (.*)")

QUICK: Final = {
    "acks": "all",
    "enable.idempotence": "true",
    "linger.ms": "0",
    "retry.backoff.max.ms": "10",
    "retry.backoff.ms": "10",
}
"""Makes a producer act soon; leaves out nothing that it does.

The two have to be less than `reconnect.backoff.ms`: else one that has lost its leader may connect to that for
ever, and never ask another broker for metadata, for each failure to connect begins the wait anew
(`NetworkClient.handleServerDisconnect`).
"""


class Reply(NamedTuple):
    """What came of a command: of a record its offset, or -1; the name of an exception, or nothing."""

    offset: int = -1
    error: str = ""
    text: str = ""


class JavaProducers:
    """kafka-clients of `version`, 2.3 or newer. building.BuildError."""

    def __init__(self, version: str) -> None:
        self.name = f"Java {version}"
        self.logs: defaultdict[str, list[str]] = defaultdict(list)
        """What each producer warned of."""
        self._numbers = itertools.count(1)
        self._waiting: dict[int, Future[Reply]] = {}
        classes = building.class_path(PROJECT, version, "Producers")
        flags = (f"{LOG_LEVEL}=warn",)
        self._program = JavaProgram(classes, "Producers", flags, self._event, self._log)

    def open(self, name: str, bootstrap: str, config: Mapping[str, str] | None = None) -> "Producer":
        """An idempotent producer, or a transactional one with `transactional.id`. Each name is used once."""
        settings = {**QUICK, "bootstrap.servers": bootstrap, "client.id": name, **(config or {})}
        producer = Producer(self, name)
        producer.ask("open", *(f"{key}={value}" for key, value in settings.items()))
        return producer

    def tell(self, name: str, command: str, *words: str) -> Future[Reply]:
        number = next(self._numbers)
        waiting = self._waiting[number] = Future()
        self._program.tell(str(number), command, name, *words)
        return waiting

    def stop(self) -> None:
        self._program.stop()

    def _event(self, event: Mapping[str, Any]) -> None:
        # A record may fail twice, by an exception from send() and by its callback.
        if waiting := self._waiting.pop(event["number"], None):
            waiting.set_result(Reply(event["offset"], event["error"], event["text"]))

    def _log(self, line: str) -> None:
        if logged := _CLIENT_ID.search(line):
            self.logs[logged[1]].append(logged[2])


class Producer:
    """One producer of a JVM."""

    def __init__(self, client: JavaProducers, name: str) -> None:
        self.name = name
        self._client = client

    def send(self, topic: str, value: str, partition: int = 0) -> Future[Reply]:
        """Hands over a record; the future has a result when it is delivered or has failed."""
        return self._client.tell(self.name, "send", topic, str(partition), value)

    def ask(self, command: str, *words: str) -> Reply:
        """init, begin, commit, abort, flush, or partitions with a topic: what came of it. TimeoutError."""
        return self._client.tell(self.name, command, *words).result(LIMIT_S)

    def close(self) -> None:
        """Ends it, and does not wait: 2.3.1 may miss the word until its broker closes the connection."""
        self._client.tell(self.name, "close")

    @property
    def log(self) -> list[str]:
        """What it warned of."""
        return self._client.logs[self.name]
