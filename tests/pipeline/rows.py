"""Rows of the one table, made by hand, and what a search finds in them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from mockbroker.pipeline.observations import Observation

from .readers.reading import RECORDED

if TYPE_CHECKING:
    from mockbroker.pipeline.engine import Engine
    from mockbroker.pipeline.tables import Table

START_MS = 1_700_000_000_000
SECOND = 1_000
DAY = 86_400_000
Search = Callable[["Table"], "Table"]
Row = SimpleNamespace
"""A finding, whose columns are attributes, as are those of its evidence."""


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
    found = History()
    found.rows += _healthy()
    assert {"commit", "group", "tombstone", "load"} <= {row.kind for row in found.rows}
    return found


@functools.cache
def _healthy() -> tuple[Observation, ...]:
    from mockbroker.pipeline.readers import read, survey

    found = survey(sorted(RECORDED.glob("healthy-*"))).recognised
    return tuple(row for path, _ in found for row in read(path))


def searched(search: Search, stories: Mapping[str, History]) -> dict[str, list[Row]]:
    """What is found in each story, in the order of time."""
    found: dict[str, list[Row]] = {name: [] for name in stories}
    result = found_in(rows_of(stories), search)
    for each in sorted(result, key=lambda each: (each.from_ms or 0, each.signature, each.summary)):
        found[each.topic.partition("/")[0]].append(each)
    return found


def rows_of(stories: Mapping[str, History]) -> list[Observation]:
    """Each story gets topics and files of its own, which begin with its name."""
    return [
        replace(row, topic=None if row.topic is None else f"{name}/{row.topic}", file=f"{name}/{row.file}")
        for name, story in stories.items()
        for row in story.rows
    ]


def found_in(rows: Iterable[Observation], search: Search, engine: Engine | None = None) -> list[Row]:
    """What a search finds; with DuckDB, unless another engine is given."""
    from mockbroker.pipeline.client_groups import with_groups
    from mockbroker.pipeline.engine import DuckEngine
    from mockbroker.pipeline.rows import comparable

    with TemporaryDirectory() as folder:
        files = written(rows, Path(folder))
        used = engine or DuckEngine(Path(folder))
        with nullcontext() if engine else closing(used), used.searching(len(files)):
            found = search(with_groups(comparable(used.files(files)))).collect()
    return [Row(**{**one, "evidence": [Row(**each) for each in one["evidence"]]}) for one in found]


def written(rows: Iterable[Observation], folder: Path) -> list[Path]:
    """The rows as Parquet, as `analyze` writes them."""
    import pyarrow as pa

    from mockbroker.pipeline.engine import parquet_of
    from mockbroker.pipeline.writing import Writers, folder_schema

    by_kind: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        values = asdict(row)
        by_kind.setdefault(values.pop("kind"), []).append(values)
    writers = Writers(folder, "rows")
    for kind, some in by_kind.items():
        writers.write(kind, pa.Table.from_pylist(some, folder_schema()))
    writers.close()
    return parquet_of(folder)
