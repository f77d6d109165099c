"""The Java consumer: one JVM for each version."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.jvm import LOG_LEVEL, JavaProgram
from mockbroker.rig.waiting import wait_for

from .consumer import Commit, Consumer, Read

PROJECT: Final = Path(__file__).parent / "jvm"
_LOGGED: Final = "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.clients.consumer.internals=info"
_CLIENT_ID: Final = re.compile(r"\[Consumer clientId=([^,\]]+), groupId=[^\]]*\] (.*)")

QUICK: Final = {
    "enable.auto.commit": "false",
    "heartbeat.interval.ms": "100",
    "session.timeout.ms": "10000",
    "fetch.max.wait.ms": "100",
    "retry.backoff.ms": "20",
    "reconnect.backoff.ms": "20",
    "reconnect.backoff.max.ms": "20",
}
"""Makes a consumer act soon; leaves out nothing that it does."""


class JavaClient:
    """kafka-clients of `version`. building.BuildError."""

    commits: tuple[Commit, ...] = tuple(Commit)

    def __init__(self, version: str) -> None:
        self.name = f"Java {version}"
        self._consumers: dict[str, Consumer] = {}
        classes = building.class_path(PROJECT, version)
        flags = (f"{LOG_LEVEL}=error", _LOGGED)
        self._program = JavaProgram(classes, "Consumers", flags, self._event, self._log)

    def open(
        self,
        name: str,
        bootstrap: str,
        topics: Sequence[str],
        group: str,
        commit: Commit,
        config: Mapping[str, str],
    ) -> Consumer:
        consumer = self._consumers[name] = Consumer(name)
        settings = {"bootstrap.servers": bootstrap, "group.id": group, "client.id": name, **QUICK, **config}
        self._program.tell(
            "open",
            name,
            ",".join(topics),
            commit.name,
            *(f"{key}={value}" for key, value in settings.items()),
        )
        return consumer

    def close(self, consumer: Consumer) -> None:
        self._program.tell("close", consumer.name)
        wait_for(f"{consumer.name} to leave", lambda: consumer.closed)
        del self._consumers[consumer.name]

    def stop(self) -> None:
        self._program.stop()

    def _event(self, event: Mapping[str, Any]) -> None:
        if consumer := self._consumers.get(event["consumer"]):
            _note(consumer, event)

    def _log(self, line: str) -> None:
        if (logged := _CLIENT_ID.search(line)) and (consumer := self._consumers.get(logged[1])):
            consumer.note(log=logged[2])


def _note(consumer: Consumer, event: Mapping[str, Any]) -> None:
    match event["event"]:
        case "records":
            consumer.note(records=[Read(*each) for each in event["records"]])
        case "assigned":
            consumer.note(assigned=frozenset(event["partitions"]))
        case "raised":
            consumer.note(raised=event["name"], log=event["text"])
        case "closed":
            consumer.note(closed=True)
