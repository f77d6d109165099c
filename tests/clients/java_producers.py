"""Producers of kafka-clients, any number of them in one JVM for each version."""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final, NamedTuple

from mockbroker.clients.drivers import Answer, command_for
from mockbroker.clients.drivers.in_thread import open_client
from mockbroker.rig.waiting import LIMIT_S

_CLIENT_ID: Final = re.compile(r"\[Producer clientId=([^,\]]+)[^\]]*\] (.*)")
_CAUSE: Final = re.compile(r"; caused by [\w.]*?(\w+): (.*)", re.DOTALL)
_VERBS: Final = {"init": "init-transactions", "commit": "commit-transaction", "abort": "abort-transaction"}
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
    """The result of a command: of a record its offset, or -1; the name of an exception, or nothing."""

    offset: int = -1
    error: str = ""
    text: str = ""


class JavaProducers:
    """kafka-clients of `version`, 2.3 or newer. building.BuildError."""

    def __init__(self, version: str) -> None:
        self.name = f"Java {version}"
        self.logs: defaultdict[str, list[str]] = defaultdict(list)
        """What each producer warned of."""
        self._opened = contextlib.ExitStack()
        self.driven = self._opened.enter_context(open_client(command_for("java", version)))
        self.driven.driver.printed = self._log

    def open(self, name: str, bootstrap: str, config: Mapping[str, str] | None = None) -> Producer:
        """An idempotent producer, or a transactional one with `transactional.id`. Each name is used once."""
        settings = {**QUICK, "bootstrap.servers": bootstrap, "client.id": name, **(config or {})}
        self.driven.call("open", name, kind="producer", initializes=False, config=settings)
        return Producer(self, name)

    def tell(self, verb: str, name: str, timeout_ms: int | None = None, **fields: Any) -> Future[Reply]:
        told: Future[Reply] = Future()

        def settle(answered: Future[Answer]) -> None:
            if (error := answered.exception()) is not None:
                told.set_exception(error)
            else:
                told.set_result(_reply(answered.result()))

        self.driven.send(verb, name, timeout_ms, **fields).add_done_callback(settle)
        return told

    def stop(self) -> None:
        self._opened.close()

    def _log(self, line: str) -> None:
        if logged := _CLIENT_ID.search(line):
            self.logs[logged[1]].append(logged[2])


def _reply(answer: Answer) -> Reply:
    """Of a KafkaException the cause, if it has one: itself it says only that the producer failed before."""
    if (error := answer.error) is not None:
        cause = _CAUSE.search(error.message) if error.name == "KafkaException" else None
        text = error.message.partition("; caused by ")[0]
        return Reply(error=cause[1], text=cause[2]) if cause else Reply(error=error.name, text=text)
    offset = (answer.ok or {}).get("offset")
    return Reply() if offset is None else Reply(offset)


class Producer:
    """One producer of a JVM."""

    def __init__(self, client: JavaProducers, name: str) -> None:
        self.name = name
        self._client = client

    def send(self, topic: str, value: str, partition: int = 0) -> Future[Reply]:
        """Hands over a record; the future has a result when it is delivered or has failed."""
        fields: dict[str, Any] = {
            "topic": topic,
            "partition": partition,
            "key": None,
            "value": value.encode(),
        }
        return self._client.tell("produce", self.name, **fields)

    def ask(self, command: str, topic: str | None = None) -> Reply:
        """init, begin, commit, abort, flush, or partitions with a topic: its reply. TimeoutError."""
        fields = {} if topic is None else {"topic": topic}
        limit_ms = int(1000 * LIMIT_S) if command == "flush" else None
        told = self._client.tell(_VERBS.get(command, command), self.name, limit_ms, **fields)
        return told.result(LIMIT_S)

    def close(self) -> None:
        """Ends it, and does not wait: 2.3.1 may miss the word until its broker closes the connection."""
        self._client.tell("close", self.name, 0)

    @property
    def log(self) -> list[str]:
        """What it warned of."""
        return self._client.logs[self.name]
