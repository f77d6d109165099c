"""A thousand clusters in one process leave nothing behind."""

from __future__ import annotations

import concurrent.futures
import gc
import multiprocessing
import os
import threading
from pathlib import Path

from mockbroker import MockCluster

GROWTH_BYTES = 16 * 1024 * 1024
"""Of memory that pools and caches may take; a leak of one cluster each would be many times that."""


def held() -> tuple[int, int]:
    """Threads and open files."""
    return threading.active_count(), len(os.listdir("/dev/fd"))


def resident_bytes() -> int:
    """0 where the platform does not tell."""
    statm = Path("/proc/self/statm")
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if statm.exists() else 0


def cycle(times: int) -> None:
    for _ in range(times):
        with MockCluster(topics={"t": 3}) as cluster:
            assert cluster.bootstrap_servers


def grown_bytes() -> int:
    """By a thousand clusters; AssertionError if threads or open files are left."""
    cycle(50)
    gc.collect()
    before, resident = held(), resident_bytes()
    cycle(1000)
    gc.collect()
    assert held() == before
    return resident_bytes() - resident


def test_nothing_is_left() -> None:
    # In a process of its own: what other tests left on the heap decides how much of it goes back.
    spawn = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as process:
        grown = process.submit(grown_bytes).result()
    assert grown < GROWTH_BYTES, f"{grown / 1024 / 1024:.1f} MiB more"
