"""Logs that processes or Spark read: the same rows in the same order."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("numpy")
pytest.importorskip("pyarrow")
from mockbroker.pipeline import ahead
from mockbroker.pipeline.engine import DuckEngine, Engine, SparkEngine
from mockbroker.pipeline.readers import Reading, recognise
from mockbroker.pipeline.session import MASTER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LINE = (
    "[2026-11-23 02:12:13,{ms:03}] INFO [Partition orders-0 broker={broker}] Shrinking ISR from 1,2,3 to 1,2."
    " Leader: (highWatermark: 5, endOffset: {ms}). (kafka.cluster.Partition)\n"
)


@pytest.mark.parametrize("large", [0, 1 << 40], ids=["by processes", "by this process"])
def test_rows_of_several_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    monkeypatch.setattr(ahead, "_LARGE", large)
    with closing(DuckEngine(tmp_path)) as engine:
        check(engine, tmp_path)


def test_by_spark(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_LARGE", 0)
    monkeypatch.setattr("mockbroker.pipeline.engine._WAVES", 1)
    check(SparkEngine(tmp_path, MASTER), tmp_path)


def check(engine: Engine, tmp_path: Path) -> None:
    paths = [tmp_path / f"server.log.{broker}" for broker in (1, 2)]
    for broker, path in enumerate(paths, 1):
        path.write_text("".join(LINE.format(ms=ms, broker=broker) for ms in range(300)))
    reader = recognise(paths[0])
    assert reader is not None
    assert all(ahead.can_read(path, reader) for path in paths)
    done: list[int] = []
    with closing(ahead.Ahead(paths, engine, piece=10_000)) as logs:
        for path in paths:
            assert list(logs.read(path, Reading(), done.append)) == list(reader.read(path, Reading()))
    assert sum(done) == sum(path.stat().st_size for path in paths)
    assert max(done) < 11_000
