"""How long `mockbroker analyze` takes for a large trace, and what memory: `python -m benchmarks.pipeline`.

Wall clock, CPU time and memory of the whole process tree (Python, the JVM, its workers), from the
start of the command to its end, with DuckDB and with Spark.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from benchmarks.pipeline_trace import write
from benchmarks.process import cpu_us, descendants

_TICK_S: Final = 0.5


@dataclass
class CommandCost:
    """Seconds and MB. `load` is the machine's load average at the end: other work makes all of it longer."""

    what: str
    wall_s: float
    cpu_s: float
    peak_mb: float
    load: float
    said: str


def measure(what: str, command: list[str], *, below: int | None = None) -> CommandCost:
    """Runs a command to its end; `below` is the process whose tree is measured, if not that of the command.
    RuntimeError when it fails."""
    cpu: dict[int, float] = {}
    begun, peak = time.monotonic(), 0.0
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while process.poll() is None:
            tree = _tree(process.pid if below is None else below)
            cpu |= {pid: seconds for pid, (seconds, _) in tree.items()}
            peak = max(peak, sum(mb for _, mb in tree.values()))
            time.sleep(_TICK_S)
        wall = time.monotonic() - begun
        output.seek(0)
        said = output.read()
    if process.returncode:
        raise RuntimeError(f"{what} ended with {process.returncode}: {said[-2000:]}")
    return CommandCost(
        what, round(wall, 1), round(sum(cpu.values()), 1), round(peak), os.getloadavg()[0], said
    )


def _tree(root: int) -> dict[int, tuple[float, float]]:
    """CPU seconds and MB of a process and all below it; of pages that several share each has its part."""
    there = [root, *descendants(root)]
    return {pid: (used / 1e6, _megabytes(pid)) for pid in there if (used := cpu_us(pid)) is not None}


def _megabytes(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


Rows = Annotated[int, typer.Option(help="Of the trace.")]
Folder = Annotated[Path | None, typer.Option(help="Where the input is kept and found again.")]


@contextmanager
def kept_in(folder: Path | None) -> Iterator[Path]:
    """The folder, which is made if need be, or one that is deleted in the end."""
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="mockbroker-bench-") as name:
        yield Path(name)


def trace_of(folder: Path, rows: int, seed: int = 0, ending: str = "jsonl") -> Path:
    """A trace in the folder, written unless it is there."""
    trace = folder / f"trace-{rows}-{seed}.{ending}"
    if not trace.exists():
        write(trace, rows, seed)
    return trace


def tell(measured: CommandCost, **instead: Any) -> None:
    """A line of JSON, with other fields instead of what the command said."""
    line = asdict(measured)
    del line["said"]
    typer.echo(json.dumps(line | instead))


def main(
    rows: Rows = 5_000_000,
    seed: int = 0,
    folder: Folder = None,
    engines: Annotated[str, typer.Option(help="What searches: duckdb, spark.")] = "duckdb,spark",
    formats: Annotated[str, typer.Option(help="Of the trace: jsonl, parquet.")] = "jsonl,parquet",
) -> None:
    """Print a line of JSON for each measurement."""
    with kept_in(folder) as kept:
        for ending in formats.split(","):
            trace, out = trace_of(kept, rows, seed, ending), kept / f"out-{ending}"
            for engine in engines.split(","):
                shutil.rmtree(out, ignore_errors=True)
                command = [sys.executable, "-m", "mockbroker", "analyze", str(trace), "--out", str(out)]
                what = f"analyze {rows:,} rows, {ending}, {trace.stat().st_size / 1e6:.0f} MB, {engine}"
                measured = measure(what, [*command, "--engine", engine])
                tell(measured, said=measured.said.strip().splitlines()[-1])


if __name__ == "__main__":
    typer.run(main)
