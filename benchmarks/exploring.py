"""How `mockbroker explore` grows with cores: `python -m benchmarks.exploring --seeds 4000`.

The same seeds in one process and in two, and on standalone Spark clusters of one worker and of two, of one
core each. A few seeds go before, so that processes, Spark and its workers have started.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from benchmarks.spark_tasks import cluster
from mockbroker.pipeline import session, sweep
from mockbroker.simulation import workers
from mockbroker.simulation.exploring import Variant
from mockbroker.simulation.plan import Options

_MIXED: Final = [Variant("mixed", Options("4.4"))]

Rows = list[dict[str, Any]]


def _seconds(explore: Callable[[range], Iterable[Rows]], seeds: int) -> float:
    for _ in explore(range(8 * sweep.CHUNK)):
        pass
    began = time.perf_counter()
    done = sum(len(rows) for rows in explore(range(seeds)))
    took = time.perf_counter() - began
    if done != seeds:
        raise RuntimeError(f"{done} of {seeds} histories")
    return took


def _in_processes(count: int, seeds: int) -> float:
    return _seconds(lambda some: workers.explore(_MIXED, some, count), seeds)


def _on_spark(count: int, seeds: int) -> float:
    with tempfile.TemporaryDirectory() as scratch, cluster(Path(scratch), count) as url:
        spark = session.start(Path(scratch), url)
        try:
            return _seconds(lambda some: sweep.explore(_MIXED, some, None), seeds)
        finally:
            spark.stop()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=4000)
    seeds = parser.parse_args().seeds
    for what, run in (("processes", _in_processes), ("Spark workers", _on_spark)):
        one, two = run(1, seeds), run(2, seeds)
        rates = f"one {seeds / one:5.0f} histories/s, two {seeds / two:5.0f}"
        sys.stdout.write(f"{what:14} {rates}, {one / two:.2f} times as many\n")


if __name__ == "__main__":
    main()
