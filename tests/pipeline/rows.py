"""Rows of the one table, made by hand, and what a search finds in them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from mockbroker.pipeline.observations import Observation

from .readers.reading import RECORDED

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

START_MS = 1_700_000_000_000
SECOND = 1_000
DAY = 86_400_000
Search = Callable[["DataFrame"], "DataFrame"]


class History:
    """Rows in the order in which they are added; each a second after the one before, unless told when."""

    def __init__(self, source: str = "trace", topic: str = "orders", partition: int = 0) -> None:
        self.rows: list[Observation] = []
        self.source, self.topic, self.partition = source, topic, partition
        self.now_ms = START_MS
        self._positions = itertools.count(1)

    def add(self, kind: str, after_ms: int = SECOND, **values: Any) -> History:
        self.now_ms += after_ms
        given = {"topic": self.topic, "partition": self.partition, "time_ms": self.now_ms, **values}
        source = given.pop("source", self.source)
        self.rows.append(Observation(kind, source, f"{source}.txt", next(self._positions), **given))
        return self

    def commit(self, offset: int, after_ms: int = SECOND, **values: Any) -> History:
        own = {"group": "billing", "client": "a", "generation": 1, "leader_epoch": 0}
        return self.add("commit", after_ms, offset=offset, **{**own, **values})

    def restore(self, offset: int, after_ms: int = SECOND, **values: Any) -> History:
        return self.add("restore", after_ms, offset=offset, **{"group": "billing", "client": "a", **values})

    def position(self, offset: int, after_ms: int = SECOND, **values: Any) -> History:
        return self.add("position", after_ms, offset=offset, **{"client": "a", "group": "billing", **values})

    def refused(self, error: str, after_ms: int = SECOND, **values: Any) -> History:
        return self.add("refused", after_ms, error=error, **values)

    def out_of_range(self, offset: int, after_ms: int = SECOND, **values: Any) -> History:
        own = {"client": "a", "group": "billing", "api": "Fetch", "broker": 1, **values}
        return self.refused("OFFSET_OUT_OF_RANGE", after_ms, offset=offset, **own)

    def reset(self, offset: int | None, after_ms: int = SECOND, **values: Any) -> History:
        own = {"client": "a", "group": "billing", "detail": "earliest", **values}
        return self.add("reset", after_ms, offset=offset, **own)


def healthy() -> History:
    """What real brokers wrote of groups to which nothing happened: see `recorded/healthy.py`."""
    from mockbroker.pipeline.readers import read, survey

    found = History()
    for path, _ in survey(sorted(RECORDED.glob("healthy-*"))).recognised:
        found.rows += read(path)
    assert {"commit", "group", "tombstone", "load"} <= {row.kind for row in found.rows}
    return found


def frame(spark: SparkSession, rows: Iterable[Observation]) -> DataFrame:
    import pyarrow as pa

    from mockbroker.pipeline.observations import arrow_schema

    return spark.createDataFrame(pa.Table.from_pylist([asdict(row) for row in rows], arrow_schema()))


def searched(spark: SparkSession, search: Search, stories: Mapping[str, History]) -> dict[str, list[Row]]:
    """What is found in each story, in the order of time. All in one go: a job takes seconds. Each story gets
    a topic of its own, which has its name."""
    from mockbroker.pipeline.findings import comparable
    from mockbroker.pipeline.session import queries_of
    from mockbroker.pipeline.signatures.groups import with_groups

    rows = [
        replace(row, topic=None if row.topic is None else f"{name}/{row.topic}")
        for name, story in stories.items()
        for row in story.rows
    ]
    with queries_of(spark, len(rows)):
        result = search(with_groups(comparable(frame(spark, rows)))).collect()
    spark.catalog.clearCache()
    found: dict[str, list[Row]] = {name: [] for name in stories}
    for each in sorted(result, key=lambda each: (each.from_ms or 0, each.signature, each.summary)):
        found[each.topic.partition("/")[0]].append(each)
    return found
