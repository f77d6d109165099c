"""Spark's optimizer takes each search, over the rows of a real cluster: some plans that DuckDB runs it makes
invalid. What is found is compared in `test_engines`, for some of them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from mockbroker.pipeline.collecting import collect, observations
from mockbroker.pipeline.engine import SparkEngine
from mockbroker.pipeline.session import MASTER
from mockbroker.pipeline.signatures import searches
from mockbroker.pipeline.tables.spark import SparkTable

from .test_engines import SEARCHED
from .test_recordings import NEWEST, unpacked

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_spark_takes_every_search(spark: SparkSession, tmp_path: Path) -> None:
    files = unpacked(NEWEST["compacted-before-read"], tmp_path)
    rest = [each for each in searches() if each.find.__module__.rpartition(".")[2] not in SEARCHED]
    assert len(rest) > 20
    with closing(SparkEngine(tmp_path / "spark", MASTER)) as engine:
        collected = collect([files], tmp_path / "rows", engine)
        rows = engine.at_hand(observations(engine, collected.folder))
        for each in rest:
            found = each.find(rows)
            assert isinstance(found, SparkTable)
            found.frame.explain()
