"""The application with the Java client: one JVM for all cases."""

import subprocess
from typing import Final

from ..clients import building
from ..clients.java import FLAGS, LOG_LEVEL, PROJECT
from .case import BATCH, GROUP, INPUT, OUTPUT, PAUSE_MS, RECORDS, TRANSACTIONAL_ID

_STOP_LIMIT_S: Final = 30.0


class JavaApplication:
    """kafka-clients of `version`. building.BuildError."""

    def __init__(self, version: str) -> None:
        self.name = f"Java {version}"
        self.bumps_epochs = int(version.split(".")[0]) >= 4
        java, classes = building.need("java"), building.class_path(PROJECT, version)
        self._process = subprocess.Popen(
            [java, *FLAGS, f"{LOG_LEVEL}=off", "-cp", classes, "ExactlyOnce"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def move(self, bootstrap: str, limit_s: float) -> list[str]:
        assert self._process.stdin
        assert self._process.stdout
        job = (
            bootstrap,
            INPUT,
            OUTPUT,
            GROUP,
            TRANSACTIONAL_ID,
            RECORDS,
            BATCH,
            int(limit_s * 1000),
            PAUSE_MS,
        )
        self._process.stdin.write("\t".join(map(str, job)) + "\n")
        self._process.stdin.flush()
        line = next((each for each in self._process.stdout if each.startswith("job ")), "job died")
        _, result, *errors = line.split()
        told = ", ".join(errors[0].split(",")) if errors else "none"
        if result != "moved":
            raise TimeoutError(f"not all were moved; its errors were {told}")
        return errors[0].split(",") if errors else []

    def stop(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
