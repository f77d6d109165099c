"""Rows go through a fold key by key, in order, and are never all in memory."""

from __future__ import annotations

import os
import tracemalloc
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import mockbroker.pipeline.engine
from mockbroker.pipeline.engine import DuckEngine, SparkEngine
from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.session import MASTER
from mockbroker.pipeline.tables import Folding, Table

from .rows import written

SPARK = pytest.param("spark", marks=pytest.mark.needs("pyspark", "java", "mvn"))
MANY = 300_000
LIMIT_MB = 20
"""Of Python's own memory; all rows take 40 MB."""
MADE = pa.schema([("group", pa.string()), ("offsets", pa.list_(pa.int64()))])
COUNTED = pa.schema([("rows", pa.int64()), ("keys", pa.int64()), ("in_order", pa.bool_())])


def runs(rows: Iterable[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """The offsets of each key, as its rows come."""
    last: dict[str, Any] | None = None
    for group, offset, _ in rows:
        if last is None or last["group"] != group:
            if last is not None:
                yield last
            last = {"group": group, "offsets": []}
        last["offsets"].append(offset)
    if last is not None:
        yield last


def counted(rows: Iterable[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    count, keys, in_order, last = 0, set(), True, (0, -1)
    for group, offset, _ in rows:
        count += 1
        in_order &= (group, offset) > last
        last = group, offset
        keys.add(group)
    yield {"rows": count, "keys": len(keys), "in_order": in_order}


@pytest.fixture(params=["duckdb", SPARK])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DuckEngine | SparkEngine]:
    if request.param == "duckdb":
        with closing(DuckEngine(tmp_path)) as engine:
            yield engine
    else:
        request.getfixturevalue("spark")
        yield SparkEngine(tmp_path, MASTER)


def test_each_key_comes_once_and_in_order(engine: DuckEngine | SparkEngine, tmp_path: Path) -> None:
    """Nine of ten rows have the same key."""
    rows = [
        Observation(
            *("commit", "trace", "a.txt", number),
            group="large" if number % 10 else "small",
            offset=1000 - number,
        )
        for number in range(1000)
    ]
    rows.append(Observation("commit", "trace", "a.txt", 1000, group="small"))
    table: Table = engine.files(written(rows, tmp_path)).select("group", "offset", "position")
    found = {
        row["group"]: row["offsets"] for row in table.folded("group", ["offset"], table.columns, runs, MADE)
    }
    assert found == {
        "small": [None, *range(10, 1001, 10)],
        "large": [number for number in range(1, 1001) if number % 10],
    }


def test_rows_are_never_all_in_memory(tmp_path: Path) -> None:
    with closing(DuckEngine(tmp_path)) as engine:
        rows = {
            "group": [number % 7 for number in range(MANY)],
            "offset": range(MANY),
            "position": range(MANY),
        }
        table = engine.table(pa.table(rows))
        tracemalloc.start()
        try:
            found = table.folded("group", ["offset"], table.columns, counted, COUNTED)
            peak_mb = tracemalloc.get_traced_memory()[1] / 1e6
        finally:
            tracemalloc.stop()
    assert found == [{"rows": MANY, "keys": 7, "in_order": True}]
    assert peak_mb < LIMIT_MB


@pytest.mark.parametrize(
    ("rows_sorted", "parts"), [(1_500, {"most": 3, "many": 2}), (5_000, {"most": 2, "many": 1})]
)
def test_many_rows_are_gone_through_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_sorted: int, parts: dict[str, int]
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(mockbroker.pipeline.engine, "_MANY_ROWS", 1_000)
    monkeypatch.setattr(mockbroker.pipeline.engine, "_ROWS_OF_LONGEST", 1_000)
    monkeypatch.setattr(mockbroker.pipeline.engine, "_ROWS_SORTED", rows_sorted)
    rows = [Observation("commit", "trace", "a.txt", at, group=f"g{at % 3}", offset=at) for at in range(100)]
    with closing(DuckEngine(tmp_path)) as engine:
        table = engine.files(written(rows, tmp_path)).select("group", "offset", "position")
        said: list[str] = []
        foldings = [
            Folding(name, count, some, "group", ["offset"], table.columns, runs, MADE)
            for name, count, some in (
                ("few", 10, table),
                ("many", 2_000, table.where("group = 'g1'")),
                ("most", 3_000, table),
            )
        ]
        few, many, most = engine.folded(foldings, said.append)
    assert [(row["group"], len(row["offsets"])) for row in few] == [("g0", 34), ("g1", 33), ("g2", 33)]
    assert sorted(most, key=itemgetter("group")) == few
    assert many == few[1:2]
    assert said[0] == "going through few"
    begun = Counter(each for each in said[1:] if each.startswith("going"))
    assert begun == {f"going through {name}": count for name, count in parts.items()}


def test_memory_that_is_not_enough_is_doubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mockbroker.pipeline.engine, "_MANY_ROWS", 1_000)
    monkeypatch.setattr(mockbroker.pipeline.engine, "_MEMORY_APART", 100_000)
    rows = [
        Observation("commit", "trace", "a.txt", at, group=f"g{at % 997}", offset=at) for at in range(20_000)
    ]
    with closing(DuckEngine(tmp_path)) as engine:
        table = engine.files(written(rows, tmp_path)).select("group", "offset", "position")
        said: list[str] = []
        folding = Folding("many", 1_000, table, "group", ["offset"], table.columns, runs, MADE)
        [found] = engine.folded([folding], said.append)
    assert sum(len(row["offsets"]) for row in found) == len(rows)
    assert said[:2] == ["going through many", "going through many again, with more memory"]
