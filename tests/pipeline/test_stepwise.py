"""What is searched some steps at a time finds what one query does, of few rows and of many."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.tables import Table, stepwise
from mockbroker.pipeline.tables import functions as F
from mockbroker.pipeline.tables.duck import Database, DuckTable
from mockbroker.pipeline.tables.stepwise import FEW, Step

from .rows import written

ROWS = [
    Observation("commit", "trace", "a.txt", 1, offset=5, group="g"),
    Observation("commit", "trace", "a.txt", 2, offset=6, group="h"),
    Observation("reset", "trace", "a.txt", 3, offset=7, group="g"),
]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[DuckEngine]:
    with closing(DuckEngine(tmp_path)) as engine:
        yield engine


@pytest.mark.parametrize("how", ["inner", "left", "left_semi", "left_anti"])
@pytest.mark.parametrize("left", ["commit", "append"])
@pytest.mark.parametrize("right", ["reset", "append"])
def test_a_join_of_what_may_be_empty(
    engine: DuckEngine, tmp_path: Path, how: str, left: str, right: str
) -> None:
    table = engine.files(written(ROWS, tmp_path))
    one = table.where(F.col("kind") == left).select("group", "offset")
    other = table.where(F.col("kind") == right).select("group", F.col("offset").alias("other"))
    _found_alike(engine, one.join(other, "group", how))


@pytest.mark.parametrize(
    "kinds", [("commit", "reset"), ("append", "reset"), ("commit", "x"), ("append", "x")]
)
def test_both_tables_of_which_one_may_be_empty(
    engine: DuckEngine, tmp_path: Path, kinds: tuple[str, str]
) -> None:
    table = engine.files(written(ROWS, tmp_path)).select("kind", "group", "offset")
    one, other = (table.where(F.col("kind") == kind) for kind in kinds)
    both = one.unionByName(other).withColumn("next", F.col("offset") + 1)
    _found_alike(engine, both.where("next > 6"))
    _found_alike(engine, both.groupBy("kind").agg(F.count("*").alias("count")))


def test_what_is_used_more_than_once(engine: DuckEngine, tmp_path: Path) -> None:
    counted = engine.files(written(ROWS, tmp_path)).groupBy("group").agg(F.max("offset").alias("offset"))
    twice = counted.select("group", F.col("offset").alias("again"))
    assert len(_found_alike(engine, counted.join(twice, "group").where("offset = again"))) == 2


def test_filters_that_many_rows_pass(
    engine: DuckEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stepwise, "FEW", 1)
    table = engine.files(written(ROWS, tmp_path)).select("kind", "group", "offset")
    commits, resets = (table.where(F.col("kind") == kind) for kind in ("commit", "reset"))
    again = resets.select("group", F.col("offset").alias("again"))
    for kept in (commits, commits.persist()):
        assert len(_found_alike(engine, kept.join(again, "group").where("again > offset"))) == 1
        assert len(_found_alike(engine, kept.unionByName(resets).where("offset > 5"))) == 2
    assert _tables(engine) == []


def _found_alike(engine: DuckEngine, table: Table) -> list[str]:
    assert isinstance(table, DuckTable)
    at_once = sorted(map(str, table.arrow().to_pylist()))
    assert sorted(map(str, table.collect())) == at_once
    with engine.searching(len(ROWS)):
        assert sorted(map(str, table.collect())) == at_once
    return at_once


def _tables(engine: DuckEngine) -> list[tuple[str, ...]]:
    return engine._database.connection.execute("SHOW TABLES").fetchall()


def test_searches_of_many_rows_run_at_once(
    engine: DuckEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    table = engine.files(written(ROWS, tmp_path)).select("kind", "group", "offset")
    kinds = ["commit", "reset"] * 10
    tables = [table.where(F.col("kind") == kind).where("offset > 0") for kind in kinds]
    with engine.searching(FEW + 1), ThreadPoolExecutor(engine.at_once) as pool:
        assert engine.at_once == 3
        found = list(pool.map(lambda some: {row["kind"] for row in some.collect()}, tables))
    assert found == [{kind} for kind in kinds]
    assert engine.at_once == 1


@pytest.mark.parametrize("few", [True, False])
def test_what_comes_after_no_rows_is_not_planned(engine: DuckEngine, few: bool) -> None:
    numbers = _numbers(engine, few)
    none = numbers.where("n > 3")
    assert none.select(F.col("missing").alias("n")).collect() == []
    doubled = numbers.withColumn("twice", F.col("n") * 2).where("twice > 6")
    assert doubled.where("missing > 0").collect() == []


@pytest.mark.parametrize("few", [True, False])
def test_no_tables_are_left(engine: DuckEngine, few: bool) -> None:
    import duckdb

    numbers = _numbers(engine, few)
    some = numbers.withColumn("twice", F.col("n") * 2).where("twice > 2")
    assert some.where("n < 3").collect() == [{"n": 2, "twice": 4}]
    with pytest.raises(duckdb.BinderException, match="missing"):
        some.where("missing > 0").collect()
    assert _tables(engine) == []


def _numbers(engine: DuckEngine, few: bool) -> DuckTable:
    database: Database = engine._database
    database.few_rows = few
    return DuckTable(database, Step("SELECT unnest([1, 2, 3]) AS n"), ["n"])
