"""What is asked of tasks, which go to other processes, is what DuckDB gives here."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from mockbroker.pipeline.engine import DuckEngine, reading
from mockbroker.pipeline.observations import NAMES, Observation
from mockbroker.pipeline.tables import Fewer, Table, as_it_is
from mockbroker.pipeline.tables import functions as F
from mockbroker.pipeline.tables.apart import Apart, ApartTable, Asked, Found

from .rows import written
from .test_folded import MADE, runs

PARTS = 3
GROUPS = (*("large" for _ in range(9)), "small", "other", None)
Two = tuple[Table, ApartTable, list[int]]


@pytest.fixture(params=[False, True], ids=["many rows", "few rows"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Two]:
    """DuckDB's own table, one of tasks, and how many tasks there were each time."""
    rows = [
        Observation("commit", "trace", "a.txt", number, group=GROUPS[number % len(GROUPS)], offset=-number)
        for number in range(600)
    ]
    files, counts = written(rows, tmp_path), list[int]()

    def each(do: Callable[[Asked], Found], asked: Sequence[Asked]) -> list[Found]:
        counts.append(len(asked))
        return [do(pickle.loads(pickle.dumps(one))) for one in asked]

    database = Apart(each=each, parts=PARTS, few_rows=request.param)
    with closing(DuckEngine(tmp_path)) as engine:
        yield engine.files(files), ApartTable(database, reading(files), NAMES), counts


def test_a_search(two: Two) -> None:
    *tables, counts = two

    def found(table: Table) -> list[str]:
        some = table.where(F.col("offset") < -10).persist()
        last = some.groupBy("group").agg(F.min("offset").alias("last"))
        return sorted(map(str, some.join(last, "group").where("offset = last").select("group").collect()))

    ours, theirs = map(found, tables)
    assert len(ours) == len(set(GROUPS) - {None})
    assert theirs == ours
    assert counts == [1]


def _of_early_groups(table: Table) -> Table:
    early = table.where("offset > -10").select("group").distinct()
    return table.join(early, "group", "left_semi")


@pytest.mark.parametrize(
    ("fewer", "groups"), [(as_it_is, set(GROUPS)), (_of_early_groups, {"large", "small"})]
)
def test_each_key_is_one_tasks(two: Two, fewer: Fewer, groups: set[str | None]) -> None:
    *tables, counts = two
    names = ["group", "offset", "position"]
    how = "group", ["offset"], names, runs, MADE, fewer
    ours, theirs = (
        {row["group"]: row["offsets"] for row in found}
        for found in (table.select(*names).folded(*how) for table in tables)
    )
    assert set(ours) == groups
    assert theirs == ours
    assert counts == [PARTS]
