"""The brokers that are compared: how each is started, when it is ready, and how it is ended."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from benchmarks import kfake
from benchmarks.apis import api_versions
from benchmarks.process import cpu_us
from benchmarks.trees import Tree
from benchmarks.wire import Connection, WrongAnswerError

START_SECONDS: Final = 60
END_SECONDS: Final = 5


class UnavailableError(Exception):
    """This peer cannot be had here; the message says why."""


class NotStartedError(Exception):
    """The peer's process gave no address or no ApiVersions answer."""


@dataclass(frozen=True)
class Commands:
    """What to run, by the number of brokers, and where; a `tree` of mockbroker can be measured inside too."""

    by_brokers: dict[int, list[str]]
    tls: list[str] | None = None
    """For one broker that speaks TLS, if it can."""
    tree: Tree | None = None
    scenarios: tuple[str, ...] = ("",)
    """The prefixes of those that it can play."""


@dataclass(frozen=True)
class Peer:
    """A broker to measure; `commands` prepares it and returns what to run. It writes its address first, and
    behind it, if that is not its own, the id of the process to look at.

    One that is not `usual` is left out unless it is named.
    """

    name: str
    commands: Callable[[], Commands]
    usual: bool = True


@dataclass(frozen=True)
class Running:
    address: str
    pid: int
    start_up_seconds: float
    """From the start of the process to its first ApiVersions answer."""
    start_up_cpu_us: float | None = None
    control: str | None = None
    """Address of the control API, if it was asked for."""


def mockbroker(tree: Tree) -> Commands:
    """That of a checkout."""
    serve = [tree.python, "-m", "mockbroker", "serve", "--port", "0", "-q", "--brokers"]
    return Commands({brokers: [*serve, str(brokers)] for brokers in (1, 3)}, [*serve, "1", "--tls"], tree)


def _librdkafka_mock() -> Commands:
    if importlib.util.find_spec("confluent_kafka") is None:
        raise UnavailableError("confluent-kafka is not installed")
    return Commands({1: [sys.executable, "-m", "benchmarks.librdkafka_mock"]})


def _kfake() -> Commands:
    try:
        program = str(kfake.build())
        return Commands({brokers: [program, str(brokers)] for brokers in (1, 3)}, [program, "1", "tls"])
    except kfake.CannotBuildError as reason:
        raise UnavailableError(str(reason)) from None


def _kafka() -> Commands:
    if shutil.which("java") is None:
        raise UnavailableError("java is not installed")
    return Commands({1: [sys.executable, "-m", "benchmarks.real_kafka"]})


def _in_front(proxy: str) -> Commands:
    """That of a proxy before a real broker."""
    if shutil.which("java") is None or shutil.which("mvn") is None:
        raise UnavailableError("java or mvn is not installed")
    return Commands({1: [sys.executable, "-m", "benchmarks.in_front", proxy]})


def _echo() -> Commands:
    command = [sys.executable, "-m", "benchmarks.echo"]
    return Commands({1: command}, scenarios=("produce-100B", "produce-1KB", "idempotent", "connections"))


OURS: Final = "mockbroker"
BEFORE: Final = "before"
"""mockbroker from another checkout."""
PEERS: Final = (
    Peer(OURS, lambda: mockbroker(Tree())),
    Peer("librdkafka-mock", _librdkafka_mock),
    Peer("kfake", _kfake),
    Peer("kafka", _kafka, usual=False),
    Peer("proxy", lambda: _in_front("mockbroker"), usual=False),
    Peer("kroxylicious", lambda: _in_front("kroxylicious"), usual=False),
    Peer("echo", _echo, usual=False),
)


@contextmanager
def started(command: list[str], tree: Tree | None = None, *, tls: bool = False) -> Iterator[Running]:
    """Start a peer, wait until it answers, and end it afterwards. `tree` is the checkout that it is in; `tls`
    says that it speaks TLS."""
    tree = tree or Tree()
    with tempfile.TemporaryFile() as complaints:
        start = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=tree.folder,
            env=tree.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        )
        # Not killed: what stands in front of a broker has to end both.
        too_late = threading.Timer(START_SECONDS, process.terminate)
        too_late.start()
        try:
            assert process.stdout is not None
            # The first of the bootstrap addresses: "host:port,host:port".
            addresses, _, pid = process.stdout.readline().strip().partition(" ")
            address = addresses.split(",")[0]
            if not address:
                complaints.seek(0)
                said = complaints.read().decode(errors="replace").strip().splitlines()
                raise NotStartedError(f"did not start: {said[-1] if said else 'no address'}")
            try:
                with Connection(address, tls=tls) as connection:
                    api_versions(connection)
            except (OSError, ValueError, WrongAnswerError) as reason:
                raise NotStartedError(f"no ApiVersions answer from {address!r}: {reason}") from None
            start_up = time.perf_counter() - start
            control = process.stdout.readline().strip() if "--control" in command else None
            too_late.cancel()
            looked_at = int(pid or process.pid)
            yield Running(address, looked_at, start_up, cpu_us(looked_at), control)
        finally:
            too_late.cancel()
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
