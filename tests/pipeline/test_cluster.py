"""Spark on several machines: executors open the files, wherever these are, and their driver opens none."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import pytest
from pyarrow import fs

from benchmarks.spark_tasks import cluster
from mockbroker.pipeline.collecting import collect
from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.observations import NAMES
from mockbroker.rig.downloads import SHORT_LIVED

from .real_clusters import unpacked
from .stores import keys, s3
from .test_ahead import CUT, PART, RECORDINGS, Rows, rows_of

DRIVER, EXECUTOR, OTHER = "driver", "executor", "other"
FILES = "incident/files"
PROGRAM = f"""
import sys
from contextlib import closing
from pathlib import Path
from mockbroker.pipeline import looking
from mockbroker.pipeline.collecting import collect
from mockbroker.pipeline.engine import SparkEngine

uri, folder, out, master = sys.argv[1:]
opened = []
def heard(event, arguments):
    if event == "open" and str(arguments[0]).startswith(folder):
        opened.append(arguments[0])
sys.addaudithook(heard)
next(Path(folder).rglob("*.log")).open().close()
assert opened.pop(), "the hook hears"
looking.LOG_PART = SparkEngine.part = {PART}
with closing(SparkEngine(Path(out), master)) as engine:
    collect([uri], Path(out, "store", "rows"), engine)
    collect([folder], Path(out, "folder", "rows"), engine)
assert not opened, opened
"""


@pytest.mark.needs("java", "pyspark")
def test_two_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, work = unpacked(RECORDINGS / CUT, tmp_path / "given"), tmp_path / "work"
    with tarfile.open(files / "more.tar.gz", "w:gz") as archive:
        archive.add(files / "broker3", "broker4")
    work.mkdir()
    for name, value in keys(OTHER).items():
        monkeypatch.setenv(name, value)
    environment = {**keys(EXECUTOR), "JAVA_TOOL_OPTIONS": " ".join(SHORT_LIVED)}
    with s3() as store, cluster(work, environment=environment) as master:
        bucket, _ = fs.FileSystem.from_uri(f"s3://incident?{store.options}")
        bucket.create_dir("incident")
        fs.copy_files(str(files), FILES, destination_filesystem=bucket, use_threads=False)
        given = [f"s3://{FILES}?{store.options}", str(files), str(tmp_path), master]
        subprocess.run([sys.executable, "-c", PROGRAM, *given], env=os.environ | keys(DRIVER), check=True)

    assert {each.key for each in store.reads} == {EXECUTOR}
    there = {f"/{FILES}/{path.relative_to(files)}" for path in files.rglob("*") if _has_bytes(path)}
    assert {each.path for each in store.reads} == there
    with closing(DuckEngine(tmp_path)) as engine:
        collect([files], tmp_path / "wanted" / "rows", engine)
    wanted = _moved(tmp_path / "wanted", str(files))
    assert len(wanted) > 10
    assert _moved(tmp_path / "folder", str(files)) == wanted
    assert _moved(tmp_path / "store", f"s3://{FILES}") == wanted


def _has_bytes(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0


def _moved(out: Path, given: str) -> Rows:
    """The rows, wherever files and results lie."""
    at = NAMES.index("file")
    return {
        kind: [
            (*row[:at], row[at].replace(given, "given").replace(str(out), "out"), *row[at + 1 :])
            for row in rows
        ]
        for kind, rows in rows_of(out / "rows").items()
    }
