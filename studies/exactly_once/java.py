"""The application with the Java client: one JVM for all cases."""

import queue
from typing import Any

from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.jvm import LOG_LEVEL, JavaProgram

from ..clients.java import PROJECT
from .case import BATCH, GROUP, INPUT, OUTPUT, PAUSE_MS, RECORDS, TRANSACTIONAL_ID


class JavaApplication:
    """kafka-clients of `version`. building.BuildError."""

    def __init__(self, version: str) -> None:
        self.name = f"Java {version}"
        self.bumps_epochs = int(version.split(".")[0]) >= 4
        self._ended: queue.Queue[dict[str, Any]] = queue.Queue()
        classes = building.class_path(PROJECT, version)
        flags = [f"{LOG_LEVEL}=off"]
        self._program = JavaProgram(classes, "ExactlyOnce", flags, self._ended.put, lambda _: None)

    def move(self, bootstrap: str, limit_s: float) -> list[str]:
        limit_ms = int(limit_s * 1000)
        job = (bootstrap, INPUT, OUTPUT, GROUP, TRANSACTIONAL_ID, RECORDS, BATCH, limit_ms, PAUSE_MS)
        self._program.tell(*map(str, job))
        told = self._ended.get(timeout=3 * limit_s)
        errors: list[str] = told["errors"]
        if not told["moved"]:
            raise TimeoutError(f"not all were moved; its errors were {', '.join(errors) or 'none'}")
        return errors

    def stop(self) -> None:
        self._program.stop()
