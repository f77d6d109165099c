"""The table into which files are read: what several files tell is in it once."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from mockbroker.pipeline.collecting import collect
from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.readers.files import LONGEST

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


def test_lines_that_were_cut_are_told_once_for_each_file(tmp_path: Path) -> None:
    time = "2026-11-23 02:12:13,123 INFO [Consumer clientId=a, groupId=g] "
    long = f"{time}{'a' * LONGEST}\n"
    (tmp_path / "app.log").write_text(
        f"{time}Resetting offset for partition orders-0 to offset 5.\n{long}{long}"
    )
    (tmp_path / "rdkafka.log").write_text(
        "%4|1763863933.123|OFFSET|rdkafka#consumer-1| [thrd:main]: orders [0]: offset reset (at offset 5, "
        f"broker 1) to END (offset 7): Offset out of range\n%4|1763863933.124|OFFSET|x| {'1' * LONGEST}\n"
    )
    with closing(DuckEngine(tmp_path)) as engine:
        collected = collect([tmp_path / "app.log", tmp_path / "rdkafka.log"], tmp_path / "rows", engine)
    rows = pq.read_table(collected.folder / "kind=unreadable", columns=["file", "position", "detail"])
    told = [(Path(each["file"]).name, each["position"], each["detail"]) for each in rows.to_pylist()]
    cut = "is longer than 1,048,576 characters: the rest was not read"
    assert told == [
        ("app.log", 2, f"this line (and 1 more) {cut}"),
        ("rdkafka.log", 2, f"this line {cut}"),
    ]
