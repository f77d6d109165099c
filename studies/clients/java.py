"""Java programs that are driven over pipes; the Java consumer: one JVM for each version."""

import json
import re
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from mockbroker.clients.drivers import building

from .consumer import Commit, Consumer, Read, wait_for

PROJECT: Final = Path(__file__).parent / "jvm"
FLAGS: Final = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
LOG_LEVEL: Final = "-Dorg.slf4j.simpleLogger.defaultLogLevel"
_LOGGED: Final = "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.clients.consumer.internals=info"
_TO_STDOUT: Final = "-Dorg.slf4j.simpleLogger.logFile=System.out"
_CLIENT_ID: Final = re.compile(r"\[Consumer clientId=([^,\]]+), groupId=[^\]]*\] (.*)")
_STOP_LIMIT_S: Final = 30.0

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


class JavaProgram:
    """One JVM. A line to it is a command; its lines are events, `event` and JSON, and the client's log."""

    def __init__(
        self,
        classes: str,
        main: str,
        flags: Sequence[str],
        event: Callable[[dict[str, Any]], None],
        logged: Callable[[str], None],
    ) -> None:
        """`event` and `logged` are called in a thread of their own. building.BuildError."""
        self._event, self._logged = event, logged
        self._telling = threading.Lock()
        command = [building.need("java"), *FLAGS, *flags, _TO_STDOUT, "-cp", classes, main]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def tell(self, *words: str) -> None:
        with self._telling:
            assert self._process.stdin
            self._process.stdin.write("\t".join(words) + "\n")
            self._process.stdin.flush()

    def signal(self, number: int) -> None:
        """Stops it, continues it or kills it."""
        self._process.send_signal(number)

    def stop(self) -> None:
        """Lets it end."""
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._listener.join()
        assert self._process.stdout
        self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.startswith("event {"):
                self._event(json.loads(line.removeprefix("event ")))
            else:
                self._logged(line)


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
