"""A Kafka Streams application that counts words, exactly once: each instance in a JVM of its own."""

import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import trio

from mockbroker.clients.drivers import building
from mockbroker.errors import MockBrokerError

from .clients import LOGS_OF_JAVA

WORD_COUNT: Final = Path(__file__).parent / "java-streams"
APPLICATION: Final = "word-count"
REPARTITION: Final = f"{APPLICATION}-words-repartition"
CHANGELOG: Final = f"{APPLICATION}-totals-changelog"
_LEFT_S: Final = 60.0


class StreamsError(MockBrokerError, RuntimeError):
    """An instance died."""


class Instance:
    def __init__(self, process: trio.Process, log: Path) -> None:
        self._process, self._log = process, log

    def running(self) -> bool:
        """Whether it has what it is assigned. StreamsError."""
        told = [line for line in self._log.read_text(errors="replace").splitlines() if line[:7] == "event {"]
        if failed := next((line for line in told if '"error"' in line), None):
            raise StreamsError(failed)
        return bool(told) and '"RUNNING"' in told[-1]

    async def leave(self) -> None:
        """Leaves the group. StreamsError if it takes more than a minute."""
        assert self._process.stdin is not None
        await self._process.stdin.aclose()
        with trio.move_on_after(_LEFT_S):
            await self._process.wait()
            return
        raise StreamsError("an instance did not end")


@asynccontextmanager
async def instance(
    servers: str, version: str, name: str, source: str, target: str, logs: Path
) -> AsyncIterator[Instance]:
    """With kafka-streams of `version`; its log is `NAME.log` in the folder. BuildError."""
    classes = await trio.to_thread.run_sync(building.class_path, WORD_COUNT, version)
    config = {
        "bootstrap.servers": servers,
        "application.id": APPLICATION,
        "client.id": name,
        "processing.guarantee": "exactly_once_v2",
        "replication.factor": 3,
        "commit.interval.ms": 400,
        "session.timeout.ms": 10_000,
        "state.dir": logs.parent / name,
    }
    command = [building.need("java"), *LOGS_OF_JAVA, "-cp", classes, "WordCount"]
    with (logs / f"{name}.log").open("wb") as log:
        process = await trio.lowlevel.open_process(
            command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        assert process.stdin is not None
        words = ("open", name, source, target, *(f"{key}={value}" for key, value in config.items()))
        await process.stdin.send_all(("\t".join(words) + "\n").encode())
        yield Instance(process, logs / f"{name}.log")
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
