"""How much memory a broker takes, and each of what it keeps: `python -m benchmarks.memory`.

Processes by their resident memory, in MB (2**20 bytes); what a cluster keeps by the bytes that Python
allocates for each, in a cluster of one broker.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster
from mockbroker.faults import Faults
from mockbroker.trace import Trace

from .asking import Asker
from .growth import MADE
from .process import resident_mb
from .request_path import a_cluster

CLUSTERS: Final = 20
COUNTS: Final = {
    "topics": 1_000,
    "partitions": 10_000,
    "groups": 5_000,
    "members": 1_000,
    "producers": 10_000,
    "sessions": 1_000,
}
UNUSED: Final = 10_000


def main() -> None:
    out = sys.stdout.write
    for brokers in (1, 3):
        out(f"idle, {brokers} broker{'s' * (brokers > 1)}: {idle_mb(brokers):.1f} MB\n")
    out(f"one more cluster of three brokers in the same process: {more_mb():.2f} MB\n")
    out(f"partitions that nobody used: {each(_unused, UNUSED):,} bytes each, of {UNUSED:,}\n")
    for name, count in COUNTS.items():
        out(f"{name}: {each(MADE[name], count):,} bytes each, of {count:,}\n")
    out(f"connections: {each(_connections, 1_000):,} bytes each, of 1,000\n")


def idle_mb(brokers: int) -> float:
    """A broker's process that has printed its address."""
    command = [sys.executable, "-m", "mockbroker", "serve", "-q", "--port", "0", "--brokers", str(brokers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = resident_mb(process.pid) or -1
        process.terminate()
    return found


def more_mb() -> float:
    """What a cluster takes of which there is one already, threads included: the mean of some."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(MockCluster(topics={"orders": 6}))
        before = _resident()
        for _ in range(CLUSTERS):
            stack.enter_context(MockCluster(topics={"orders": 6}))
        return (_resident() - before) / CLUSTERS


def _resident() -> float:
    gc.collect()
    return resident_mb(os.getpid()) or -1


def each(make: Callable[[Cluster, int], Any], count: int) -> int:
    """The bytes that Python allocates for each of so many."""
    # What is imported and compiled the first time does not count.
    make(a_cluster(), 2)
    cluster = a_cluster()
    gc.collect()
    tracemalloc.start()
    kept = make(cluster, count)
    gc.collect()
    allocated = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    del kept
    return round(allocated / count)


def _unused(cluster: Cluster, n: int) -> None:
    cluster.create_topic("unused", [[1]] * n)


def _connections(cluster: Cluster, n: int) -> list[Asker]:
    faults, trace = Faults(cluster), Trace(cluster)
    askers = [Asker(cluster, faults, trace) for _ in range(n)]
    for asker in askers:
        asker.ask("api_versions", 0, {})
    return askers


if __name__ == "__main__":
    main()
