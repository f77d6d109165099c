"""Servers under test (one process per Kafka release), and names that no other test has."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
import uuid
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import IO

import pytest

from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.building import BuildError
from mockbroker.clients.drivers.in_thread import Client as Driven
from mockbroker.clients.drivers.in_thread import open_client

NEWEST = "4.4"
STOP_TIMEOUT = 20.0


@dataclass
class Broker:
    """A cluster of three brokers that listens."""

    bootstrap: str
    release: str
    control: str = ""
    process: subprocess.Popen[str] | None = None
    log: IO[bytes] | None = None

    def errors(self) -> str:
        """What it wrote to stderr so far."""
        if self.log is None or self.log.closed:
            return ""
        fd = self.log.fileno()  # its position is the server's: leave it alone
        return os.pread(fd, os.fstat(fd).st_size, 0).decode(errors="replace")

    def hints(self) -> set[str]:
        """What it says of clients that get nothing."""
        if not self.control:
            return set()
        with urllib.request.urlopen(f"{self.control}/hints", timeout=STOP_TIMEOUT) as answer:
            return set(json.load(answer))

    def stop(self) -> None:
        if self.process is None:
            return
        self.process.terminate()
        try:
            status = self.process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            assert self.process.stdout
            self.process.stdout.close()
        assert status == 0, f"mockbroker {self.release} ended with {status}:\n{self.errors()}"


def serve(release: str) -> Broker:
    log = tempfile.TemporaryFile(prefix="mockbroker-")  # noqa: SIM115
    command = [
        sys.executable,
        "-m",
        "mockbroker",
        "serve",
        "--brokers",
        "3",
        "--port",
        "0",
        "--control",
        "0",
        "-q",
    ]
    process = subprocess.Popen([*command, "--kafka", release], stdout=subprocess.PIPE, stderr=log, text=True)
    assert process.stdout
    bootstrap = process.stdout.readline().strip()
    control = process.stdout.readline().strip() if bootstrap else ""
    broker = Broker(bootstrap, release, control, process, log)
    if not broker.bootstrap:
        process.wait(STOP_TIMEOUT)
        process.stdout.close()
        pytest.fail(f"mockbroker {release} did not start:\n{broker.errors()}", pytrace=False)
    return broker


@pytest.fixture(scope="session")
def brokers() -> Iterator[Callable[[str], Broker]]:
    """A server of a release, started on first use.

    MOCKBROKER_TEST_BOOTSTRAP names brokers to test instead; they stand for the newest release.
    """
    running: dict[str, Broker] = {}

    def get(release: str) -> Broker:
        if other := os.environ.get("MOCKBROKER_TEST_BOOTSTRAP"):
            if release != NEWEST:
                pytest.skip("MOCKBROKER_TEST_BOOTSTRAP is set: one release only")
            return Broker(other, release)
        if release not in running:
            running[release] = serve(release)
        return running[release]

    yield get
    failures = []
    for broker in running.values():
        try:
            broker.stop()
        except (AssertionError, subprocess.TimeoutExpired) as error:
            failures.append(str(error))
        finally:
            if broker.log:
                broker.log.close()
    assert not failures, "\n".join(failures)


@pytest.fixture(scope="module")
def clients() -> Iterator[Callable[..., Driven]]:
    """Drivers by name and version, started on first use."""
    with contextlib.ExitStack() as stack:

        @functools.cache
        def start(name: str, version: str | None = None) -> Driven:
            try:
                command = command_for(name, version)
            except BuildError as error:
                pytest.fail(str(error), pytrace=False)
            return stack.enter_context(open_client(command))

        yield start


@pytest.fixture
def release() -> str:
    """Which Kafka the server plays; a test may parametrize it."""
    return NEWEST


@pytest.fixture
def broker(brokers: Callable[[str], Broker], release: str) -> Broker:
    return brokers(release)


@pytest.fixture
def bootstrap(broker: Broker) -> str:
    return broker.bootstrap


@pytest.fixture
def without_hints(broker: Broker, name: str) -> Iterator[None]:
    """Clients get what they ask for, and so the server finds nothing to say of them."""
    before = broker.hints()
    yield
    assert not {each for each in broker.hints() - before if _is_about(each, name)}


def _is_about(hint: str, name: str) -> bool:
    """Not about a topic or group of another test, which may be hinted at as soon as this one has one that is
    nearly of that name."""
    subject = hint.partition(": did you mean")[0]
    return name in subject or not subject.startswith(("the topic ", "the group "))


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for topics and groups."""
    return f"{request.function.__name__.replace('_', '-')}-{uuid.uuid4().hex[:8]}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show the server's stderr with a failure."""
    report = yield
    broker = getattr(item, "funcargs", {}).get("broker")
    if report.failed and isinstance(broker, Broker) and (errors := broker.errors()):
        report.sections.append((f"mockbroker {broker.release} stderr", errors[-20_000:]))
    return report
