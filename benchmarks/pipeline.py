"""How long `mockbroker analyze` takes for a large trace, and what memory: `python -m benchmarks.pipeline`.

Wall clock, CPU time and resident memory of the whole process tree (Python, the JVM, its workers), from the
start of the command to its end, session included. With `--duckdb PYTHON`, an interpreter that has DuckDB,
one of the searches by both, on the same Parquet: each group's restores behind its last commit; and what it
takes DuckDB to count the rows of the trace.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import typer

from benchmarks.pipeline_trace import write

_TICK_S: Final = 0.2
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")
_CLOCK: Final = os.sysconf("SC_CLK_TCK")


@dataclass
class Measured:
    """Seconds and MB. `load` is the machine's load average at the end: other work makes all of it longer."""

    what: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    load: float
    said: str


def measure(what: str, command: list[str]) -> Measured:
    """Runs a command to its end. RuntimeError when it fails."""
    cpu: dict[int, float] = {}
    begun, peak = time.monotonic(), 0.0
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            tree = _tree(process.pid)
            cpu |= {pid: seconds for pid, (seconds, _) in tree.items()}
            peak = max(peak, sum(mb for _, mb in tree.values()))
            time.sleep(_TICK_S)
        wall = time.monotonic() - begun
        output.seek(0)
        said = output.read()
    if process.returncode:
        raise RuntimeError(f"{what} ended with {process.returncode}: {said[-2000:]}")
    return Measured(what, round(wall, 1), round(sum(cpu.values()), 1), round(peak), os.getloadavg()[0], said)


def _tree(root: int) -> dict[int, tuple[float, float]]:
    """CPU seconds and resident MB of a process and all below it; a page that two share counts twice."""
    parents, found = {}, {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            pages = int((entry / "statm").read_text().split()[1])
        except (OSError, IndexError):
            continue
        parents[int(entry.name)] = int(fields[1])
        found[int(entry.name)] = ((int(fields[11]) + int(fields[12])) / _CLOCK, pages * _PAGE / 1e6)
    below = {root}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in below} - below
        below |= more
        grown = bool(more)
    return {pid: found[pid] for pid in below if pid in found}


_QUERY: Final = """
with rows as (
    select *, {last} over (
        partition by "group", topic, "partition" order by time_ms, file, position
        rows between unbounded preceding and 1 preceding) as committed
    from {table} where kind in ('commit', 'restore'))
select count(*) as found, sum(committed - "offset") as records
from rows where kind = 'restore' and "offset" >= 0 and "offset" < committed
"""
_COMMITTED: Final = """case when kind = 'commit' then "offset" end"""
_COUNT: Final = """
select sum(rows) from (select kind, api, count(*) as rows, count(body) from read_ndjson('{trace}',
    columns = {{kind: 'VARCHAR', api: 'VARCHAR', time_ms: 'BIGINT', body: 'JSON'}}) group by all)
"""
"""Reads a whole trace, bodies unparsed."""
_DUCKDB: Final = """
import duckdb, sys
duckdb.sql("set threads = 2")
print(duckdb.sql(sys.argv[1]).fetchall())
"""
_SPARK: Final = """
import sys, tempfile
from pathlib import Path
from mockbroker.pipeline.collecting import observations
from mockbroker.pipeline.session import start
with tempfile.TemporaryDirectory() as scratch:
    spark = start(Path(scratch))
    observations(spark, Path(sys.argv[2])).createOrReplaceTempView("observations")
    print([tuple(row) for row in spark.sql(sys.argv[1].replace('"', '`')).collect()])
    spark.stop()
"""


def main(
    rows: Annotated[int, typer.Option(help="Of the trace.")] = 5_000_000,
    seed: int = 0,
    folder: Annotated[Path | None, typer.Option(help="Where traces are kept and found again.")] = None,
    duckdb: Annotated[str | None, typer.Option(help="A Python that has DuckDB, to compare with.")] = None,
    formats: Annotated[str, typer.Option(help="Of the trace: jsonl, parquet.")] = "jsonl,parquet",
) -> None:
    """Print a line of JSON for each measurement."""
    kept = folder or Path(tempfile.mkdtemp(prefix="mockbroker-bench-"))
    kept.mkdir(parents=True, exist_ok=True)
    try:
        for ending in formats.split(","):
            trace, out = kept / f"trace-{rows}-{seed}.{ending}", kept / f"out-{ending}"
            if not trace.exists():
                write(trace, rows, seed)
            shutil.rmtree(out, ignore_errors=True)
            command = [sys.executable, "-m", "mockbroker", "analyze", str(trace), "--out", str(out)]
            _print(measure(f"analyze {rows:,} rows, {ending}, {trace.stat().st_size / 1e6:.0f} MB", command))
        if duckdb:
            in_spark = _QUERY.format(table="observations", last=f"last_value({_COMMITTED}, true)")
            _print(measure("rewinds, Spark", [sys.executable, "-c", _SPARK, in_spark, _table(out)]))
            source = f"read_parquet('{_table(out)}/kind=*/*.parquet', hive_partitioning = true)"
            in_duckdb = _QUERY.format(table=source, last=f"last_value({_COMMITTED} ignore nulls)")
            _print(measure("rewinds, DuckDB", [duckdb, "-c", _DUCKDB, in_duckdb]))
            lines = kept / f"trace-{rows}-{seed}.jsonl"
            if lines.exists():
                counted = _COUNT.format(trace=lines)
                _print(measure("rows of the trace, DuckDB", [duckdb, "-c", _DUCKDB, counted]))
    finally:
        if folder is None:
            shutil.rmtree(kept)


def _table(out: Path) -> str:
    return str(out / "observations")


def _print(measured: Measured) -> None:
    line = asdict(measured)
    line["said"] = measured.said.strip().splitlines()[-1]
    typer.echo(json.dumps(line))


if __name__ == "__main__":
    typer.run(main)
