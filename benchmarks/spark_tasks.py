"""How evenly Spark's workers share the work of `mockbroker analyze`: `python -m benchmarks.spark_tasks`.

A standalone master and two workers of one core each, on this machine, analyze a large trace; Spark's event
log tells how long the tasks of each stage took, and what they read. Python's tasks read files themselves:
of those stages the log has no bytes.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final

import typer

from benchmarks.pipeline import Folder, Rows, kept_in, measure, tell, trace_of

WORKERS: Final = 2
_LEAST_S: Final = 5.0
"""Of all tasks of a stage: shorter ones are not shown."""
_CLASS: Final = "org.apache.spark.deploy"
_MASTER: Final = re.compile(r"Starting Spark master at (spark://\S+)")


@dataclass
class SparkStage:
    """Seconds, and MB that Spark read."""

    stage: str
    tasks: int
    mb: float
    all_s: float
    median_s: float
    longest_s: float


@contextmanager
def cluster(
    folder: Path, workers: int = WORKERS, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The URL of a master that has its workers. All that one of them runs has one core, where the system can
    see to that: a JVM's compiler and collector would take another one. `folder` is for what they write."""
    import pyspark

    home = Path(pyspark.__file__).parent
    runs = [str(home / "bin" / "spark-class")]
    where = {**os.environ, "SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable, **(environment or {})}
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> IO[str]:
        process = subprocess.Popen(
            [*runs, *arguments],
            env=where,
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stderr is not None
        return process.stderr

    def until(lines: IO[str], pattern: re.Pattern[str]) -> re.Match[str]:
        for line in lines:
            if found := pattern.search(line):
                return found
        raise RuntimeError("Spark's cluster did not start")

    local = ("--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
    try:
        url = until(start(f"{_CLASS}.master.Master", *local), _MASTER)[1]
        for number in range(workers):
            size = ("--cores", "1", "--memory", "3g", "--work-dir", str(folder))
            with _on_core(number):
                lines = start(f"{_CLASS}.worker.Worker", *local, *size, url)
            until(lines, re.compile("Successfully registered with master"))
        yield url
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()
            assert process.stderr is not None
            process.stderr.close()


@contextmanager
def _on_core(number: int) -> Iterator[None]:
    """What is started here runs on one core; the last one first, so that the driver has another one."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(cores, reverse=True)[number % len(cores)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def stages(log: Path) -> Iterator[SparkStage]:
    """Of an event log, those that took long."""
    names: dict[int, str] = {}
    seconds: dict[int, list[float]] = {}
    read: dict[int, float] = {}
    with log.open() as file:
        for line in file:
            event = json.loads(line)
            if event["Event"] == "SparkListenerStageSubmitted":
                info = event["Stage Info"]
                names[info["Stage ID"]] = info["Stage Name"]
            elif event["Event"] == "SparkListenerTaskEnd" and (metrics := event.get("Task Metrics")):
                stage = event["Stage ID"]
                seconds.setdefault(stage, []).append(metrics["Executor Run Time"] / 1000)
                shuffled = metrics["Shuffle Read Metrics"]
                total = shuffled["Remote Bytes Read"] + shuffled["Local Bytes Read"]
                read[stage] = read.get(stage, 0) + (total + metrics["Input Metrics"]["Bytes Read"]) / 1e6
    for stage, each in sorted(seconds.items()):
        if sum(each) >= _LEAST_S:
            yield SparkStage(
                f"{stage} {names[stage]}",
                len(each),
                round(read[stage], 1),
                round(sum(each), 1),
                round(statistics.median(each), 2),
                round(max(each), 2),
            )


def main(
    rows: Rows = 5_000_000,
    folder: Folder = None,
) -> None:
    """Print a line of JSON for the run, and one for each stage that took long."""
    with kept_in(folder) as kept, kept_in(None) as own, cluster(own) as url:
        events = own / "events"
        events.mkdir()
        settings = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
        }
        lines = (f"{key} {value}\n" for key, value in settings.items())
        (own / "spark-defaults.conf").write_text("".join(lines))
        os.environ["SPARK_CONF_DIR"] = str(own)
        command = [sys.executable, "-m", "mockbroker", "analyze", str(trace_of(kept, rows))]
        command += ["--out", str(own / "out"), "--master", url]
        tell(measure(f"analyze {rows:,} rows on {WORKERS} workers", command))
        (log,) = (each for each in events.rglob("*") if each.is_file() and "status" not in each.name)
        for stage in stages(log):
            typer.echo(json.dumps(asdict(stage)))


if __name__ == "__main__":
    typer.run(main)
