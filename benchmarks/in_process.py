"""Clusters in this very process, of the tree that is first on the path: `python -P in_process.py 0.7 ROW`.

Writes a JSON object: the number of each row. It needs nothing of a tree but `MockCluster`, so that it can
measure older ones too.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Final

from mockbroker import MockCluster

_WARM_UP: Final = 3
_FEWEST: Final = 5
_RECORDS: Final = 60
_HOURLY: Final = {"log.roll.hours": "1", "log.retention.hours": "48", "offsets.retention.minutes": "2880"}
_WEEK: Final = "7d"
_WEEKS: Final = 20
"""One of them is too short to be measured."""


def repeat(once: Callable[[], float], seconds: float) -> list[float]:
    """What `once` gives, again and again for so long."""
    for _ in range(_WARM_UP):
        once()
    found: list[float] = []
    end = time.perf_counter() + seconds
    while len(found) < _FEWEST or time.perf_counter() < end:
        found.append(once())
    return found


def cpu_ms(work: Callable[[], object]) -> float:
    """CPU time of all threads, in ms."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def start_wall(seconds: float) -> float:
    """Until a cluster answers, in ms of the wall clock."""

    def once() -> float:
        began = time.perf_counter()
        cluster = MockCluster(topics={"orders": 6}).start()
        took = time.perf_counter() - began
        cluster.stop()
        return took * 1000

    return median(repeat(once, seconds))


def start_cpu(seconds: float) -> float:
    """To start a cluster and to stop it, in ms of CPU time."""
    return median(repeat(lambda: cpu_ms(lambda: MockCluster(topics={"orders": 6}).start().stop()), seconds))


@contextmanager
def replicated() -> Iterator[MockCluster]:
    """Three brokers, a topic of six partitions with three replicas each, and time that stands still."""
    with MockCluster(clock="manual", config=_HOURLY) as cluster:
        cluster.create_topic("orders", partitions=6, replication_factor=3)
        yield cluster


def week_idle(seconds: float) -> float:
    """A week in which nothing happens, in ms of CPU time."""
    with replicated() as cluster:

        def weeks() -> None:
            for _ in range(_WEEKS):
                cluster.clock.advance(_WEEK)

        return median(repeat(lambda: cpu_ms(weeks) / _WEEKS, seconds))


def week_records(seconds: float) -> float:
    """A week in which segments roll and expire, in ms of CPU time, without that of writing them."""
    with replicated() as cluster:

        def once() -> float:
            for number in range(_RECORDS):
                cluster.produce("orders", f"order {number}", partition=number % 6)
            return cpu_ms(lambda: cluster.clock.advance(_WEEK))

        return median(repeat(once, seconds))


ROWS: Final[dict[str, Callable[[float], float]]] = {
    "start-wall": start_wall,
    "start-cpu": start_cpu,
    "week-idle": week_idle,
    "week-records": week_records,
}


def main() -> None:
    seconds, *names = sys.argv[1:]
    sys.stdout.write(json.dumps({name: ROWS[name](float(seconds)) for name in names}) + "\n")


if __name__ == "__main__":
    main()
