"""Files whose parts are read by this process, by others or by Spark: the same rows in the same order."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from contextlib import closing
from dataclasses import astuple
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from mockbroker.pipeline import ahead, looking
from mockbroker.pipeline.collecting import Repeats, collect
from mockbroker.pipeline.engine import DuckEngine, Engine, SparkEngine, parquet_of
from mockbroker.pipeline.observations import NAMES
from mockbroker.pipeline.readers import Reading, read, survey
from mockbroker.pipeline.session import MASTER

from .readers.reading import RECORDED
from .real_clusters import unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pq = pytest.importorskip("pyarrow.parquet")
RECORDINGS = Path(__file__).parent / "recordings"
Rows = dict[str, list[tuple[Any, ...]]]
PART = 20_000
CUT = "3.9.2-rebalance"
OTHER = "4.4.0-producer-died-in-transaction"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of what two recordings and Kafka's tools left, one log of it compressed, and a segment that is torn."""
    folder = tmp_path_factory.mktemp("files")
    for name in (CUT, OTHER):
        unpacked(RECORDINGS / name, folder)
    for unread in (*folder.glob(f"{OTHER}/broker*"), folder / CUT / "broker3"):
        rmtree(unread)
    (folder / "recorded").symlink_to(RECORDED / "3.9.2")
    log = folder / CUT / "broker1" / "server.log"
    log.with_name("server.log.gz").write_bytes(gzip.compress(log.read_bytes()))
    log.unlink()
    segment = next(folder.glob(f"{CUT}/broker2/data/__consumer_offsets-1/*.log"))
    data = segment.read_bytes()
    segment.write_bytes(data[:PART] + bytes(50) + data[PART + 50 :])
    return folder


@pytest.fixture(scope="module")
def wanted(files: Path) -> tuple[Rows, Reading]:
    """The rows of the files, each read from its beginning to its end, and what was counted."""
    reading, repeats, found = Reading(), Repeats(), Rows()
    for path, _ in survey([files]).recognised:
        for row in repeats.without(str(path), read(path, reading)):
            found.setdefault(row.kind, []).append(astuple(row))
    assert found["unreadable"]
    assert len(found) > 10
    return found, reading


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LOG_PART", PART)
    for engine in (DuckEngine, SparkEngine):
        monkeypatch.setattr(engine, "part", PART)


def test_rows_of_this_process(files: Path, wanted: tuple[Rows, Reading], tmp_path: Path) -> None:
    check(files, wanted, DuckEngine(tmp_path))


def test_rows_of_processes(
    files: Path, wanted: tuple[Rows, Reading], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ahead, "_LARGE", 0)
    check(files, wanted, DuckEngine(tmp_path))


PROGRAM = f"""
import os
import sys
from pathlib import Path

from mockbroker.pipeline import ahead
from mockbroker.pipeline.analysis import analyze
from mockbroker.pipeline.engine import DuckEngine

print("started", flush=True)
os.cpu_count = lambda: 2
ahead._LARGE, DuckEngine.part = 0, {PART}
found = analyze([Path(sys.argv[1])], Path(sys.argv[2]))
print(found.files > 1)
"""


def test_a_program_that_calls_analyze_at_its_top_runs_once(files: Path, tmp_path: Path) -> None:
    """Processes that are started must not run it again."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), str(files / OTHER), str(tmp_path / "out")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "started\nTrue\n"), ran.stderr


def test_rows_of_spark(
    spark: SparkSession, files: Path, wanted: tuple[Rows, Reading], tmp_path: Path
) -> None:
    check(files, wanted, SparkEngine(tmp_path, MASTER))


def check(files: Path, wanted: tuple[Rows, Reading], engine: Engine) -> None:
    with closing(engine), TemporaryDirectory() as folder:
        found = collect([files], Path(folder, "rows"), engine)
        rows, reading = wanted
        assert rows_of(found.folder) == rows
    assert found.spans == reading.spans
    assert found.unknown_lines == reading.shapes.most_frequent(20)
    assert found.without_zone == reading.without_zone


def rows_of(folder: Path) -> Rows:
    """By kind, in their order."""
    found = Rows()
    for path in parquet_of(folder):
        kind = path.parent.name.removeprefix("kind=")
        for row in pq.ParquetFile(path).read().to_pylist():
            found.setdefault(kind, []).append(tuple((row | {"kind": kind})[name] for name in NAMES))
    return found


def test_progress_within_a_file(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mockbroker.pipeline.progress._EVERY_S", 0)
    (segment,) = files.glob(f"{CUT}/broker1/data/__consumer_offsets-1/*.log")
    told: list[str] = []
    with closing(DuckEngine(tmp_path)) as engine:
        collect([segment], tmp_path / "rows", engine, tell=told.append)
    assert sum(each.startswith("read ") for each in told) == 2
