"""Cases of Kafka's own tests of share consumers, played by `KafkaShareConsumer`.

`python -m tests.clients.share_cases` plays them with real brokers, and keeps how they ended (`seen`).
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from .. import build, java
from ..scenario import TIMEOUT

PROJECT: Final = build.HERE / "java-share"
_THREADS: Final = 8
CONFIG: Final = {
    "auto.create.topics.enable": "false",
    "group.share.max.partition.max.record.locks": "10000",
    "group.share.partition.max.record.locks": "10000",
    "group.share.min.record.lock.duration.ms": "1000",
    "group.share.record.lock.duration.ms": "15000",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "group.share.assignment.interval.ms": "0",
    "offsets.topic.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}
"""As Kafka's tests have it, but for shorter waits."""
_ALL: Final = "all"


class Brokers(Protocol):
    """Mock or real ones, with node ids from 1."""

    @property
    def bootstrap_servers(self) -> str: ...

    def stop_broker(self, broker: int, /) -> object: ...

    def start_broker(self, broker: int, /) -> object: ...


@dataclass(frozen=True)
class Setting:
    """A cluster, and the cases that need one like it; without names, those that no other setting has."""

    brokers: int = 1
    config: Mapping[str, str] = field(default_factory=dict)
    names: Sequence[str] = ()


_RESTART: Final = "testLeaderRestartWithoutLeadershipChange"
SETTINGS: Final = {
    "one broker": Setting(),
    "a broker that restarts": Setting(
        names=(
            "testConsumerCloseOnBrokerShutdown",
            f"{_RESTART}ExplicitAcknowledgementSync",
            f"{_RESTART}ExplicitAcknowledgementAsync",
            f"{_RESTART}ImplicitAcknowledgement",
        )
    ),
    "three brokers": Setting(
        brokers=3,
        names=(
            "testShareConsumerAfterCoordinatorMovement",
            "testSharePartitionLagOnGroupCoordinatorMovement",
            "testSharePartitionLagOnShareCoordinatorMovement",
        ),
    ),
    "small groups": Setting(
        config={"group.share.max.size": "3"}, names=("testShareGroupMaxSizeConfigExceeded",)
    ),
    "one session": Setting(
        config={"group.share.max.share.sessions": "1", "group.share.max.size": "1"},
        names=("testShareGroupShareSessionCacheIsFull",),
    ),
    "dead letter topics that brokers make": Setting(
        config={"errors.deadletterqueue.auto.create.topics.enable": "true"},
        names=("testRejectedRecordsWrittenToAutoCreatedDlq",),
    ),
}


def every_case(classes: str) -> list[str]:
    done = subprocess.run(java.command(classes, "Cases", "list"), capture_output=True, text=True, check=True)
    return done.stdout.split()


def of(setting: Setting, every: Sequence[str]) -> list[str]:
    others = {name for each in SETTINGS.values() for name in each.names}
    return [name for name in every if (name in setting.names if setting.names else name not in others)]


@dataclass
class Played:
    """What went wrong by case, empty if nothing did; and the cases of which states were written."""

    errors: dict[str, str] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)


def play(
    setting: Setting,
    names: Sequence[str],
    classes: str,
    cluster: Brokers,
    *,
    ended: Callable[[str, str], None] = lambda name, error: None,
    limit_s: float = TIMEOUT,
) -> Played:
    """`ended` is told of each case, and what went wrong in it."""
    played, over = Played(), threading.Event()
    down: list[int] = []

    def hears(event: dict[str, Any]) -> None:
        match event:
            case {"case": name, "error": error}:
                played.errors[name] = error
                ended(name, error)
            case {"written": found}:
                played.written.update(found.split())
                over.set()
            case {"verb": "stop", "what": what}:
                down.extend(range(1, setting.brokers + 1) if what == _ALL else [int(what)])
                for broker in down:
                    cluster.stop_broker(broker)
                program.tell("done")
            case {"verb": "start"}:
                for broker in down:
                    cluster.start_broker(broker)
                down.clear()
                program.tell("done")

    threads = 1 if setting.names else _THREADS
    words = (cluster.bootstrap_servers, str(threads), str(min(3, setting.brokers)), *names)
    program = java.JavaProgram(classes, "Cases", (), hears, words)
    try:
        assert over.wait(limit_s), f"of {names} only {list(played.errors)} ended"
    finally:
        program.stop()
    return played
