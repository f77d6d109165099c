"""How long a cluster takes to start and to stop, and how much a thousand clusters leave behind.

`python -m benchmarks.starting --clusters 1000`
"""

import argparse
import gc
import os
import statistics
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from mockbroker import MockCluster

from .process import resident_mb

WARM_UP = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--kafka", default="4.4")
    given = parser.parse_args()

    def once() -> tuple[float, float]:
        began = time.perf_counter()
        cluster = MockCluster(kafka=given.kafka, brokers=given.brokers, topics={"orders": 6}).start()
        up = time.perf_counter()
        cluster.stop()
        return (up - began) * 1000, (time.perf_counter() - up) * 1000

    first = once()
    for _ in range(WARM_UP):
        once()
    before = _held()
    times = [once() for _ in range(given.clusters)]
    after = _held()
    tracemalloc.start()
    traced = _python_bytes(once)
    out = sys.stdout.write
    out(f"Kafka {given.kafka}, {given.brokers} brokers, {given.clusters} clusters one after the other\n")
    for name, at in (("start", 0), ("stop", 1)):
        found = sorted(each[at] for each in times)
        out(
            f"{name}: first {first[at]:.1f} ms, then median {statistics.median(found):.2f} ms, "
            f"99 % {found[len(found) * 99 // 100]:.2f} ms, most {found[-1]:.2f} ms\n"
        )
    for name, (was, now) in {key: (before[key], after[key]) for key in before}.items():
        out(f"{name}: {was} before, {now} after\n")
    out(f"Python objects that {WARM_UP} more clusters leave: {traced} bytes\n")


def _held() -> dict[str, float]:
    gc.collect()
    return {
        "threads": threading.active_count(),
        "open files": len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else -1,
        "resident MB": round(resident_mb(os.getpid()) or -1, 1),
    }


def _python_bytes(once: Callable[[], object]) -> int:
    once()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(WARM_UP):
        once()
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


if __name__ == "__main__":
    main()
