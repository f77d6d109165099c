"""A pump in a process that does nothing else (`mockbroker/server/alone.py`)."""

import os
import signal
import socket
import threading
from collections.abc import Iterator

import pytest

from mockbroker.server.alone import Ending, Regular, ended_by, pumped
from mockbroker.server.observer import SilentObserver
from mockbroker.server.serving import ServedCluster, listening

from ..driving import wire

SIGNAL = signal.SIGUSR1
NEVER = Regular(3600, lambda: None)


@pytest.fixture
def served() -> Iterator[ServedCluster]:
    with listening(SilentObserver(), {"port": 0, "brokers": 1}) as found:
        yield found


def answered(served: ServedCluster) -> bytes:
    """The correlation id of the answer to an ApiVersions."""
    with socket.create_connection(("127.0.0.1", served.cluster.brokers[1].endpoint.port), 30) as sock:
        sock.sendall(wire.api_versions())
        return sock.makefile("rb").read(8)[4:]


def test_it_serves_until_a_signal_comes(served: ServedCluster) -> None:
    answers: list[bytes] = []

    def ask() -> None:
        try:
            answers.append(answered(served))
        finally:
            os.kill(os.getpid(), SIGNAL)

    client = threading.Thread(target=ask)
    with ended_by([SIGNAL]) as ending:
        client.start()
        pumped(served.pump, [ending], [NEVER])
    client.join()
    assert answers == [b"\0\0\0\7"]


def test_a_signal_that_came_before_it_began_ends_it(served: ServedCluster) -> None:
    before = signal.getsignal(SIGNAL)
    with ended_by([SIGNAL]) as ending:
        os.kill(os.getpid(), SIGNAL)
        pumped(served.pump, [ending], [NEVER])
    assert signal.getsignal(SIGNAL) is before
    assert signal.set_wakeup_fd(-1) == -1


def test_what_is_regular_is_called_again_and_again(served: ServedCluster) -> None:
    reading, writing = os.pipe()
    calls: list[None] = []

    def call() -> None:
        calls.append(None)
        if len(calls) == 3:
            os.close(writing)

    pumped(served.pump, [Ending(reading, lambda: not os.read(reading, 1))], [NEVER, Regular(0.001, call)])
    os.close(reading)
    assert len(calls) == 3


def test_only_an_ending_that_is_over_ends_it(served: ServedCluster) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"goes on")
    read: list[bytes] = []

    def over() -> bool:
        read.append(os.read(reading, 100))
        if read[-1]:
            os.close(writing)
        return not read[-1]

    pumped(served.pump, [Ending(reading, over)], [NEVER])
    os.close(reading)
    assert read == [b"goes on", b""]
