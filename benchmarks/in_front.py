"""A proxy in front of a real Kafka broker: `python -m benchmarks.in_front mockbroker`, or `kroxylicious`.

Writes its address and the id of its process, then waits to be ended.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from benchmarks.apis import api_versions
from benchmarks.real_kafka import RELEASE, AsShipped
from benchmarks.wire import Connection, WrongAnswerError
from mockbroker.clients.drivers.building import BuildError, class_path
from mockbroker.rig.downloads import RealBrokerError, program
from mockbroker.rig.real_broker import free_ports

KROXYLICIOUS: Final = "0.12.0"
"""The newest whose runtime Maven Central has."""
_PROJECT: Final = Path(__file__).parent / "kroxylicious"
_START_SECONDS: Final = 30


def mockbroker(upstream: str) -> tuple[list[str], str | None]:
    """Its command, and its address if it doesn't write it."""
    return [sys.executable, "-m", "mockbroker", "proxy", "--upstream", upstream, "--port", "0", "-q"], None


def kroxylicious(upstream: str) -> tuple[list[str], str | None]:
    """The same. It listens on two ports beside each other: for bootstrap, and for the broker with id 1."""
    address = f"127.0.0.1:{_two_ports()}"
    configuration = f"""
virtualClusters:
  - name: kafka
    targetCluster:
      bootstrapServers: {upstream}
    gateways:
      - name: default
        portIdentifiesNode:
          bootstrapAddress: {address}
          nodeIdRanges:
            - name: brokers
              start: 1
              end: 1
"""
    file = Path(tempfile.mkdtemp(prefix="kroxylicious-"), "proxy.yaml")
    file.write_text(configuration)
    java = program("java", "run Kroxylicious")
    classes = class_path(_PROJECT, KROXYLICIOUS)
    return [java, "-cp", classes, str(_PROJECT / "source" / "Proxy.java"), str(file)], address


PROXIES: Final[dict[str, Callable[[str], tuple[list[str], str | None]]]] = {
    "mockbroker": mockbroker,
    "kroxylicious": kroxylicious,
}


def _two_ports() -> int:
    """The first of two free ports beside each other."""
    while True:
        (first,) = free_ports(1)
        with socket.socket() as second, contextlib.suppress(OSError):
            second.bind(("127.0.0.1", first + 1))
            return first


@contextlib.contextmanager
def _running(command: list[str], address: str | None) -> Iterator[tuple[str, int]]:
    """Its address, once it answers, and the id of its process."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = address or process.stdout.readline().split(",")[0].strip()
        _wait_for(address, process)
        yield address, process.pid
    finally:
        process.terminate()
        process.wait()


def _wait_for(address: str, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            with Connection(address) as connection:
                api_versions(connection)
                return
        except (OSError, WrongAnswerError) as reason:
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{address} does not answer: {reason}") from None
            time.sleep(0.1)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    try:
        with AsShipped(RELEASE) as cluster:
            command, address = PROXIES[sys.argv[1]](cluster.bootstrap_servers)
            with _running(command, address) as (address, pid):
                sys.stdout.write(f"{address} {pid}\n")
                sys.stdout.flush()
                signal.pause()
    except (RealBrokerError, BuildError) as reason:
        raise SystemExit(str(reason)) from None


if __name__ == "__main__":
    main()
