"""Workers of Kafka Connect in distributed mode, and their REST interface."""

from __future__ import annotations

import json
import re
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from mockbroker.clients.drivers.shipped import LOG_LEVEL
from mockbroker.rig.waiting import wait_for

from .. import needs
from . import build, java
from .scenario import TIMEOUT

VERSION = "4.3.1"
GROUP = "workers"
MAIN = "org.apache.kafka.connect.cli.ConnectDistributed"
REST_LOG = "-Dorg.slf4j.simpleLogger.log.org.apache.kafka.connect.runtime.rest.RestServer=info"
TO_STDOUT = "-Dorg.slf4j.simpleLogger.logFile=System.out"
LISTENING = re.compile(r"REST server listening at (http://[\d.]+:\d+)/")
CONFIG = {
    "group.id": GROUP,
    "config.storage.topic": "connect-configs",
    "offset.storage.topic": "connect-offsets",
    "offset.storage.partitions": "5",
    "status.storage.topic": "connect-status",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "listeners": "http://127.0.0.1:0",
    "rest.advertised.host.name": "127.0.0.1",
    "offset.flush.interval.ms": "500",
    "scheduled.rebalance.max.delay.ms": "0",
    "heartbeat.interval.ms": "500",
    "consumer.heartbeat.interval.ms": "200",
    "consumer.auto.offset.reset": "earliest",
}


class Worker:
    """One worker: a JVM."""

    def __init__(self, bootstrap: str, folder: Path, **config: str) -> None:
        file = folder / "worker.properties"
        given = {"bootstrap.servers": bootstrap, **CONFIG, **config}
        file.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
        classes = java.class_path(VERSION, build.HERE / "java-connect")
        flags = [*java.FLAGS, f"{LOG_LEVEL}=warn", REST_LOG, TO_STDOUT]
        self._process = subprocess.Popen(
            [needs.need("java"), *flags, "-cp", classes, MAIN, str(file)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.log: list[str] = []
        self.url = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        wait_for("worker", lambda: bool(self.url) and self._answers(), TIMEOUT)

    @property
    def id(self) -> str:
        """As others know it."""
        return self.url.removeprefix("http://")

    def ask(self, path: str, given: Mapping[str, Any] | None = None, method: str = "GET") -> Any:
        data = None if given is None else json.dumps(given).encode()
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/{path}", data, head, method=method)
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def connect(self, name: str, config: Mapping[str, str]) -> None:
        """Creates a connector."""
        self.ask(f"connectors/{name}/config", config, "PUT")

    def runs_at(self, name: str) -> set[str]:
        """The workers of a connector and of its task, as far as they run."""
        with suppress(urllib.error.HTTPError):  # 404 until it is known
            status = self.ask(f"connectors/{name}/status")
            parts = [status["connector"], *status["tasks"]]
            assert all(part["state"] != "FAILED" for part in parts), status
            if len(parts) > 1 and all(part["state"] == "RUNNING" for part in parts):
                return {part["worker_id"] for part in parts}
        return set()

    def stop(self) -> None:
        """In order: it leaves the group, and commits offsets."""
        self._process.terminate()
        assert self._process.wait(TIMEOUT) == 143, "".join(self.log[-100:])

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        assert self._process.stdout
        self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self.log.append(line)
            if match := LISTENING.search(line):
                self.url = match[1]

    def _answers(self) -> bool:
        assert self._process.poll() is None, "".join(self.log[-100:])
        try:
            return bool(self.ask(""))
        except OSError:
            return False
