"""The table into which files are read: what several files tell is in it once."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from mockbroker.pipeline.collecting import collect
from mockbroker.pipeline.engine import DuckEngine

pq = pytest.importorskip("pyarrow.parquet")
_LINE = (
    "[2026-11-23 02:12:13,{ms}] INFO [Partition orders-0 broker={broker}] Shrinking ISR from 1,2,3 to 1,2. "
    "Leader: (highWatermark: 5, endOffset: 7). (kafka.cluster.Partition)\n"
)


def read(folder: Path, files: dict[str, str]) -> list[str]:
    """The files that the rows about the ISR come from."""
    for name, text in files.items():
        path = folder / "given" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with closing(DuckEngine(folder)) as engine:
        collected = collect([folder / "given"], folder / "rows", engine)
    table = pq.read_table(collected.folder / "kind=in-sync-replicas", columns=["file"])
    return [Path(each).name for each in table["file"].to_pylist()]


def test_lines_that_a_broker_also_printed(tmp_path: Path) -> None:
    one, two = _LINE.format(broker=1, ms=100), _LINE.format(broker=1, ms=200)
    assert read(tmp_path, {"kafkaServer.out": one + two + two, "server.log": one + one + two}) == [
        "kafkaServer.out",
        "kafkaServer.out",
        "kafkaServer.out",
        "server.log",
    ]


def test_the_same_line_of_another_broker(tmp_path: Path) -> None:
    files = {f"{broker}/server.log": _LINE.format(broker=broker, ms=100) for broker in (1, 2)}
    assert read(tmp_path, files) == ["server.log", "server.log"]
