"""Large traces: read in parallel by few long tasks, into the same table that `readers/trace.py` gives.

Left out is what no search looks at: `current_epoch` of `fetched` rows, answers to JoinGroup and InitProducerId,
and the groups of refused requests that are about no partition.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ...trace.events import SCHEMA_VERSION
from ..observations import Observation
from .pairing import pair

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

LEAST_BYTES: Final = 32 << 20
"""Smaller files take longer this way."""
SPLIT_BYTES: Final = 128 << 20
_BLOCK_BYTES: Final = 8 << 20
_BLOCK_ROWS: Final = 1 << 14
_SOURCE: Final = "trace"


def can_read(path: Path, reader: str) -> bool:
    """Whether a file is a trace, large, of a known version, and not compressed."""
    if reader != _SOURCE or path.stat().st_size < LEAST_BYTES:
        return False
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return (pq.read_schema(path).metadata or {}).get(b"version") == str(SCHEMA_VERSION).encode()
    with path.open("rb") as file:
        head = file.readline(1 << 10)
    try:
        return bool(json.loads(head)["version"] == SCHEMA_VERSION)
    except (ValueError, KeyError, TypeError):
        return False


class Split(NamedTuple):
    """What one task reads: the bytes of lines that begin in [start, end), or row groups of Parquet. `before`
    counts the lines, or rows, before them."""

    path: str
    start: int
    end: int
    before: int
    folder: str


def read(spark: "SparkSession", path: Path, folder: Path, split_bytes: int = SPLIT_BYTES) -> None:
    """Adds the rows of a trace of a known version to `folder`, `kind=…/` each."""
    context = spark.sparkContext
    splits = _row_groups(path, folder) if path.suffix == ".parquet" else _ranges(path, folder, split_bytes)
    if path.suffix != ".parquet":
        counts = context.parallelize(splits, len(splits)).map(_count).collect()
        splits = [each._replace(before=sum(counts[:nth])) for nth, each in enumerate(splits)]
    context.parallelize(splits, len(splits)).foreach(_work)
    pair(spark, folder)
    for unfinished in folder.glob("kind=~*"):
        shutil.rmtree(unfinished)


def _ranges(path: Path, folder: Path, split_bytes: int) -> list[Split]:
    size = path.stat().st_size
    starts = range(0, size, split_bytes)
    return [Split(str(path), start, min(start + split_bytes, size), 0, str(folder)) for start in starts]


def _row_groups(path: Path, folder: Path) -> list[Split]:
    import pyarrow.parquet as pq

    about = pq.ParquetFile(path).metadata
    splits, before = [], 0
    for group in range(about.num_row_groups):
        splits.append(Split(str(path), group, group + 1, before, str(folder)))
        before += about.row_group(group).num_rows
    return splits


def _blocks(split: Split) -> Iterator[bytes]:
    """Whole lines: those that begin in the split."""
    with open(split.path, "rb") as file:
        if split.start:
            # The line that has the byte before is another task's.
            file.seek(split.start - 1)
            file.readline()
        while (at := file.tell()) < split.end:
            data = file.read(min(_BLOCK_BYTES, split.end - at))
            if not data.endswith(b"\n"):
                data += file.readline()
            yield data


def _count(split: Split) -> int:
    return sum(data.count(b"\n") for data in _blocks(split))


def _work(split: Split) -> None:
    """Writes a file for each kind. A task that is tried again writes the same ones again."""
    writers = _Writers(Path(split.folder), f"{Path(split.path).stem}-{split.start}")
    for kind, table in _parquet(split) if split.path.endswith(".parquet") else _lines(split):
        writers.write(kind, table)
    writers.close()


def _lines(split: Split) -> "Iterator[tuple[str, pa.Table]]":
    import pyarrow as pa
    import pyarrow.compute as pc

    from .parsing import parse
    from .rows import told

    line = split.before
    for data in _blocks(split):
        found, bad = parse(data)
        for rows, nth in found:
            yield from told(rows, pc.add(nth, pa.scalar(line + 1)), split.path)
        torn = None if data.endswith(b"\n") else data.count(b"\n")
        reasons = [
            (line + 1 + each.nth, f"torn last line: {each.reason}" if each.nth == torn else each.reason, each.text)
            for each in bad
        ]
        yield "unreadable", _unreadable(split.path, reasons)
        line += data.count(b"\n")


def _parquet(split: Split) -> "Iterator[tuple[str, pa.Table]]":
    import pyarrow as pa
    import pyarrow.parquet as pq

    from .parsing import with_bodies
    from .rows import told

    file = pq.ParquetFile(split.path)
    row = split.before
    groups = list(range(split.start, split.end))
    for batch in file.iter_batches(_BLOCK_ROWS, row_groups=groups):
        rows = pa.Table.from_batches([batch])
        for start, some in _readable(rows):
            if isinstance(some, str):
                yield "unreadable", _unreadable(split.path, [(row + start + 1, some, None)])
                continue
            positions = pa.array(range(row + start + 1, row + start + 1 + len(some)), pa.int64())
            yield from told(with_bodies(some), positions, split.path)
        row += len(rows)


def _readable(rows: "pa.Table", start: int = 0) -> "Iterator[tuple[int, pa.Table | str]]":
    """Rows in parts whose bodies can be read, and the reason for each that can't."""
    import pyarrow as pa

    from .parsing import APIS, with_bodies

    try:
        if len(with_bodies(rows)) == len(rows):
            yield start, rows
            return
        reason = "a body is no object"
    except pa.ArrowInvalid as error:
        reason = str(error)
    if len(rows) == 1:
        yield start, reason if rows["api"][0].as_py() in APIS else rows.slice(0, 0)
        return
    middle = len(rows) // 2
    yield from _readable(rows.slice(0, middle), start)
    yield from _readable(rows.slice(middle), start + middle)


def _unreadable(file: str, reasons: list[tuple[int, str, str | None]]) -> "pa.Table":
    import pyarrow as pa

    from .rows import SCHEMA

    rows = [Observation("unreadable", _SOURCE, file, at, detail=why, text=text) for at, why, text in reasons]
    return pa.table({name: [getattr(row, name) for row in rows] for name in SCHEMA.names}, schema=SCHEMA)


class _Writers:
    """A Parquet file for each kind, made when there is a row of it."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._files: dict[str, object] = {}

    def write(self, kind: str, table: "pa.Table") -> None:
        import pyarrow.parquet as pq

        if not len(table):
            return
        if kind not in self._files:
            path = self._folder / f"kind={kind}" / f"{self._name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            self._files[kind] = pq.ParquetWriter(path, table.schema)
        self._files[kind].write_table(table)  # type: ignore[attr-defined]

    def close(self) -> None:
        for file in self._files.values():
            file.close()  # type: ignore[attr-defined]


__all__ = ["LEAST_BYTES", "can_read", "read"]
