"""Spark data sources: `kafka-segment`, `mockbroker-trace` and `mockbroker-observations`.

```python
from mockbroker.pipeline import sources

sources.register(spark)
batches = spark.read.format("kafka-segment").load("/data/orders-0")
records = spark.read.format("kafka-segment").option("records", "true").load("/data/orders-0")
```

A path may be a file, a folder or a glob. Several paths go into the option `paths`, as a JSON list; Spark does
so with a list that is given to `load`. Options of `kafka-segment`: `records` (`false`: a row for each batch;
`true`: for each record), `partitionBytes` (128 MiB: larger segments are read by several tasks, divided
between batches), `topic` and `partition` for folders that are not named as Kafka names them. Of
`mockbroker-trace`: `partitionBytes`. Of `mockbroker-observations`: `timezone` (`UTC`), an IANA name for log
lines that state none.

What can't be read is a row too, with `error`; nothing is dropped.
"""

import glob
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from ..extras import MissingExtraError

try:
    import pyarrow as pa
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError:
    raise MissingExtraError("Spark's data sources need Spark", "spark") from None

from .errors import PipelineError
from .observations import arrow_schema
from .readers import segment_rows, trace_rows
from .readers.files import Reading, walk
from .readers.registry import read, survey

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PARTITION_BYTES: Final = 128 << 20
_BATCH_ROWS: Final = 4096


def register(spark: "SparkSession") -> None:
    """Makes the formats known to a session."""
    for source in (KafkaSegment, MockbrokerTrace, MockbrokerObservations):
        spark.dataSource.register(source)


@dataclass
class FileRange(InputPartition):
    """What one task reads: from `start`, where a row begins, up to the first row at or after `end`."""

    path: str
    start: int
    end: int


Rows = Callable[[FileRange], Iterator[tuple[Any, ...]]]
Cuts = Callable[[Path, int], list[int]]


class _Reader(DataSourceReader):
    def __init__(self, paths: list[Path], cuts: Cuts, rows: Rows, schema: pa.Schema, bytes_each: int) -> None:
        self._paths = paths
        self._cuts = cuts
        self._rows = rows
        self._schema = schema
        self._bytes_each = bytes_each

    def partitions(self) -> Sequence[InputPartition]:
        found = []
        for path in self._paths:
            size = path.stat().st_size
            starts = self._cuts(path, self._bytes_each) if size > self._bytes_each else [0]
            found += [
                FileRange(str(path), start, end)
                for start, end in zip(starts, [*starts[1:], size], strict=True)
            ]
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, FileRange)
        return arrow_batches(self._rows(partition), self._schema)


def arrow_batches(rows: Iterator[tuple[Any, ...]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows, whose values are in the schema's order, as its batches: Spark matches columns by position."""
    kept: list[tuple[Any, ...]] = []
    for row in rows:
        kept.append(row)
        if len(kept) == _BATCH_ROWS:
            yield _batch(kept, schema)
            kept.clear()
    if kept:
        yield _batch(kept, schema)


def _batch(rows: list[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        pa.array(values, each.type) for values, each in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class _Source(DataSource):
    """What the formats have in common."""

    def _paths(self) -> list[Path]:
        """PipelineError if there is no such file."""
        wanted = self.options.get("path"), self.options.get("paths")
        names = ([wanted[0]] if wanted[0] else []) + (json.loads(wanted[1]) if wanted[1] else [])
        if not names:
            raise PipelineError(f"{self.name()}: no path was given")
        found: list[Path] = []
        for name in names:
            name = name.removeprefix("file://").removeprefix("file:")
            matches = sorted(glob.glob(name)) if glob.has_magic(name) else [name]
            if not matches:
                raise PipelineError(f"{name}: no such file")
            found += walk(matches)
        return found

    def _of_format(self, *readers: str) -> list[Path]:
        """The files of this format; a file that was named itself must have it."""
        paths = self._paths()
        known = [path for path, reader in survey(paths).recognised if reader.name in readers]
        if not known:
            raise PipelineError(f"{paths[0] if paths else 'no file'}: not a {' or '.join(readers)}")
        return known

    def _number(self, option: str, otherwise: int) -> int:
        said = self.options.get(option, str(otherwise))
        if not said.isdecimal() or int(said) < 1:
            raise PipelineError(f"{self.name()}: {option}={said!r} is not a number above 0")
        return int(said)

    def _truth(self, option: str) -> bool:
        said = self.options.get(option, "false").lower()
        if said not in ("true", "false"):
            raise PipelineError(f"{self.name()}: {option}={said!r} is neither true nor false")
        return bool(said == "true")


class KafkaSegment(_Source):
    """Log segments of Kafka."""

    @classmethod
    def name(cls) -> str:
        return "kafka-segment"

    def schema(self) -> Any:
        return _spark_schema(self._columns())

    def _columns(self) -> pa.Schema:
        return segment_rows.record_schema() if self._truth("records") else segment_rows.batch_schema()

    def reader(self, schema: Any) -> DataSourceReader:
        rows = segment_rows.records if self._truth("records") else segment_rows.batches
        topic, index = self.options.get("topic"), self.options.get("partition")
        if index is not None and not index.isdecimal():
            raise PipelineError(f"kafka-segment: partition={index!r} is not a number")
        place = (topic, None if index is None else int(index))

        def read_range(part: FileRange) -> Iterator[tuple[Any, ...]]:
            return rows(Path(part.path), part.start, part.end, place)

        size = self._number("partitionBytes", _PARTITION_BYTES)
        return _Reader(self._of_format("segment"), segment_rows.cuts, read_range, self._columns(), size)


class MockbrokerTrace(_Source):
    """mockbroker's traces, with the columns in docs/trace.md."""

    @classmethod
    def name(cls) -> str:
        return "mockbroker-trace"

    def schema(self) -> Any:
        return _spark_schema(trace_rows.schema())

    def reader(self, schema: Any) -> DataSourceReader:
        def read_range(part: FileRange) -> Iterator[tuple[Any, ...]]:
            return trace_rows.rows(Path(part.path), part.start, part.end)

        size = self._number("partitionBytes", _PARTITION_BYTES)
        return _Reader(self._of_format("trace"), trace_rows.cuts, read_range, trace_rows.schema(), size)


class MockbrokerObservations(_Source):
    """Anything that the readers recognise, in one table."""

    @classmethod
    def name(cls) -> str:
        return "mockbroker-observations"

    def schema(self) -> Any:
        return _spark_schema(arrow_schema())

    def reader(self, schema: Any) -> DataSourceReader:
        zone = self.options.get("timezone", "UTC")
        try:
            reading = Reading(timezone=ZoneInfo(zone))
        except (ZoneInfoNotFoundError, ValueError):
            raise PipelineError(f"mockbroker-observations: no time zone {zone!r}") from None
        names = arrow_schema().names

        def read_file(part: FileRange) -> Iterator[tuple[Any, ...]]:
            for row in read(part.path, reading):
                yield tuple(getattr(row, name) for name in names)

        paths = [path for path, _ in survey(self._paths()).recognised]
        return _Reader(paths, lambda path, size: [0], read_file, arrow_schema(), _PARTITION_BYTES)


def _spark_schema(schema: pa.Schema) -> Any:
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(schema)
