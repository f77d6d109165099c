"""Expressions mean the same to DuckDB and to Spark, null included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from mockbroker.pipeline.engine import DuckEngine, SparkEngine
from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.session import MASTER
from mockbroker.pipeline.tables import Column, Table, Window
from mockbroker.pipeline.tables import functions as F

from .rows import written

ODD = 'it\'s ${HOME} \\d "quoted" `so` €'
ROWS = [
    Observation("commit", "trace", "a.txt", 1, offset=5, group="g", topic="orders-1", replicas=[3, 1]),
    Observation("commit", "trace", "a.txt", 2, offset=None, group="g", topic=None),
    Observation("commit", "trace", "a.txt", 3, offset=7, group=None, topic="logs-22", text=ODD),
]
BY_POSITION = Window.partitionBy("file").orderBy("position")
BEFORE = BY_POSITION.rows("UNBOUNDED PRECEDING AND 1 PRECEDING")
AFTER = BY_POSITION.reversed.rows("UNBOUNDED PRECEDING AND 1 PRECEDING")
EACH: dict[str, tuple[Column, list[Any]]] = {
    "a text with marks of every kind": (F.col("text") == ODD, [None, None, True]),
    "null is not compared": (F.col("offset") > 5, [False, None, True]),
    "null-safe": (F.col("offset").eqNullSafe(5), [True, False, False]),
    "a name that is a word of SQL": (F.col("group").isNull(), [False, False, True]),
    "in": (F.col("offset").isin(5, 6), [True, None, False]),
    "between": (F.col("offset").between(5, 6), [True, None, False]),
    "case without rest": (F.when(F.col("offset") > 5, "more"), [None, None, "more"]),
    "case": (
        F.when(F.col("offset") > 5, "more").when(F.col("offset").isNull(), "?").otherwise("less"),
        ["less", "?", "more"],
    ),
    "concat is null with null": (F.concat("group", F.lit("-"), "topic"), ["g-orders-1", None, None]),
    "concat_ws leaves null out": (F.concat_ws("-", "group", "topic"), ["g-orders-1", "g", "logs-22"]),
    "least and greatest ignore null": (
        F.concat(F.least("offset", F.lit(6)), F.lit(" "), F.greatest("offset", F.lit(6))),
        ["5 6", "6 6", "6 7"],
    ),
    "nullif": (F.nullif("offset", F.lit(5)), [None, None, 7]),
    "what does not match is empty": (F.regexp_extract("topic", r"orders-(\d)$", 1), ["1", None, ""]),
    "matches": (F.col("topic").rlike(r"-\d\d$"), [False, None, True]),
    "like": (F.col("topic").like("%-2%"), [False, None, True]),
    "starts and ends": (
        F.col("topic").startswith("logs") | F.col("topic").endswith("1"),
        [True, None, True],
    ),
    "halves": (F.col("offset") / 2, [2.5, None, 3.5]),
    "floor": (F.floor(F.col("offset") / 2), [2, None, 3]),
    "cast": (F.col("offset").cast("string"), ["5", None, "7"]),
    "the first of an array": (F.col("replicas")[0], [3, None, None]),
    "past the end of an array": (F.col("replicas")[2], [None, None, None]),
    "the size of an array": (F.size("replicas"), [2, None, None]),
    "sorted and joined": (
        F.array_join(F.array_sort(F.col("replicas")).cast("array<string>"), ", "),
        ["1, 3", None, None],
    ),
    "each of an array": (F.transform("replicas", lambda each: each + 1), [[4, 2], None, None]),
    "some of an array": (F.filter("replicas", lambda each: each > 1), [[3], None, None]),
    "the parts of a text": (F.split("topic", "-"), [["orders", "1"], None, ["logs", "22"]]),
    "looked up": (
        F.lookup(F.array(F.lit(5), F.lit(6)), F.array(F.lit("five"), F.lit("six")), "offset"),
        ["five", None, None],
    ),
    "a field of a struct": (F.struct("offset", "group")["group"], ["g", "g", None]),
    "a struct of null is not null": (F.struct("offset").isNull(), [False, False, False]),
    "lag": (F.lag("position").over(BY_POSITION), [None, 1, 2]),
    "the last that is known": (F.last("offset", True).over(BEFORE), [None, 5, 5]),
    "the next that is known": (F.last("offset", True).over(AFTER), [7, 7, None]),
    "a sum so far": (F.sum("offset").over(BEFORE), [None, 5, 5]),
    "the number of a row": (F.row_number().over(BY_POSITION), [1, 2, 3]),
}
ALL: dict[str, tuple[Column, Any]] = {
    "max_by keeps null": (F.max_by("group", "position"), None),
    "max_by passes over null": (F.max_by("position", "offset"), 3),
    "min_by a struct": (F.min_by("position", F.struct("file", "position")), 1),
    "count": (F.count("offset"), 2),
    "count all": (F.count("*"), 3),
    "count distinct": (F.count_distinct("file", "kind"), 1),
    "a set has no null": (F.collect_set("group"), ["g"]),
    "a list has no null": (F.array_sort(F.collect_list("offset")), [5, 7]),
    "an empty set": (F.collect_set("client"), []),
}


SPARK = pytest.param("spark", marks=pytest.mark.needs("pyspark", "java", "mvn"))


@pytest.fixture(scope="module", params=["duckdb", SPARK])
def table(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    folder = tmp_path_factory.mktemp("table")
    files = written(ROWS, folder)
    if request.param == "duckdb":
        with closing(DuckEngine(folder)) as engine:
            yield engine.files(files)
    else:
        request.getfixturevalue("spark")
        yield SparkEngine(folder, MASTER).files(files)


def test_each_row(table: Table) -> None:
    columns = {f"c{number}": column for number, (column, _) in enumerate(EACH.values())}
    found = sorted(table.withColumns(columns).collect(), key=lambda row: int(row["position"]))
    told = {name: [row[f"c{number}"] for row in found] for number, name in enumerate(EACH)}
    assert told == {name: expected for name, (_, expected) in EACH.items()}


def test_all_rows(table: Table) -> None:
    columns = [column.alias(f"c{number}") for number, (column, _) in enumerate(ALL.values())]
    (found,) = table.groupBy("file").agg(*columns).collect()
    assert {name: found[f"c{number}"] for number, name in enumerate(ALL)} == {
        name: expected for name, (_, expected) in ALL.items()
    }


JOINS: dict[str, Callable[[Table, Table], Table]] = {
    "1 2 2 3 3": lambda one, two: one.unionByName(two),
    "2 3": lambda one, two: one.join(two, ["position", "kind"], "left_semi"),
    "1": lambda one, two: one.join(two, "position", "left_anti"),
    "1 2 3": lambda one, two: one.unionByName(two).select("position").distinct(),
    "1 3": lambda one, two: one.where("offset >= 7 and kind = 'commit' and group is null or position = 1"),
}


@pytest.mark.parametrize("positions", JOINS)
def test_two_tables(table: Table, positions: str) -> None:
    one = table.select("position", "kind", "offset", "group")
    found = JOINS[positions](one, one.where(F.col("position") > 1)).collect()
    assert " ".join(sorted(str(row["position"]) for row in found)) == positions


def test_a_column_that_one_table_lacks(table: Table) -> None:
    both = table.select("position").unionByName(table.select("position", "offset"), allowMissingColumns=True)
    found = sorted((row["position"], row["offset"] or 0) for row in both.collect())
    assert found == [(1, 0), (1, 5), (2, 0), (2, 0), (3, 0), (3, 7)]


def test_a_condition_is_no_truth() -> None:
    with pytest.raises(TypeError, match="combine conditions with &"):
        bool(F.col("a") == 1)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(lambda table, column: table.join(table, column), id="join"),
        pytest.param(lambda table, column: table.fillna(0, column), id="fillna"),
        pytest.param(lambda table, column: table.select(*column), id="select"),
    ],
)
def test_a_column_is_no_list(table: Table, given: Callable[[Table, Column], Table]) -> None:
    with pytest.raises(TypeError, match="give a list"):
        given(table, F.col("position"))
