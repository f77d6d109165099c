"""The table on disk: a folder of Parquet for each kind of row."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .observations import KINDS, NAMES, Observation, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH: Final = 50_000
"""Rows that are written at once."""
_CACHED: Final = 500
"""Rows of which columns are made at once: each column looks at all of them, which a processor's cache still
has then. Of 50,000 rows it would take twice as long."""
_COLUMNS: Final = [attrgetter(name) for name in NAMES if name != "kind"]


@cache
def folder_schema() -> "pa.Schema":
    """The table's columns except the kind, which is the folder's name."""
    schema = arrow_schema()
    return schema.remove(schema.get_field_index("kind"))


class Columns(NamedTuple):
    """Rows of one kind, column by column."""

    kind: str
    batch: "pa.RecordBatch"

    def of_file(self, name: str) -> "Columns":
        import pyarrow as pa

        place = self.batch.schema.get_field_index("file")
        return self._replace(batch=self.batch.set_column(place, "file", pa.repeat(name, len(self.batch))))


Row = Observation | Columns


def columns_of(kind: str, count: int, values: Mapping[str, Any]) -> Columns:
    """`count` rows; values are Arrow's or NumPy's arrays, or one for all rows. What is not named is null."""
    import pyarrow as pa

    def column(value: Any, of: Any) -> Any:
        if value is None:
            return pa.nulls(count, of)
        if isinstance(value, str | int):
            return pa.repeat(pa.scalar(value, of), count)
        if isinstance(value, pa.Array):
            return value.cast(of)
        return pa.array(value.astype(value.dtype.newbyteorder("=")), of)

    schema = folder_schema()
    arrays = [column(values.get(each.name), each.type) for each in schema]
    return Columns(kind, pa.RecordBatch.from_arrays(arrays, schema=schema))


class Rows:
    """Makes Arrow tables of rows, and gives them to `write`, each with its kind."""

    def __init__(self, write: Callable[[str, "pa.Table"], None]) -> None:
        self._write = write
        self._kept: dict[str, list[Observation]] = {}
        self._made: dict[str, list[pa.RecordBatch]] = {}

    def add(self, rows: Iterable[Row]) -> int:
        """Returns how many there were."""
        count = 0
        for row in rows:
            if isinstance(row, Columns):
                count += len(row.batch)
                self._make(row.kind)
                self._keep(row.kind, row.batch)
                continue
            count += 1
            kept = self._kept.get(row.kind)
            if kept is None:
                kept = self._kept[row.kind] = []
            kept.append(row)
            if len(kept) >= _CACHED:
                self._make(row.kind)
        return count

    def flush(self) -> None:
        for kind in list(self._kept):
            self._make(kind)
        for kind in list(self._made):
            self._flush(kind)

    def _make(self, kind: str) -> None:
        import pyarrow as pa

        assert kind in KINDS, kind
        rows, schema = self._kept.pop(kind, ()), folder_schema()
        if rows:
            columns = zip(_COLUMNS, schema, strict=True)
            arrays = [pa.array(list(map(of, rows)), each.type) for of, each in columns]
            self._keep(kind, pa.RecordBatch.from_arrays(arrays, schema=schema))

    def _keep(self, kind: str, batch: "pa.RecordBatch") -> None:
        made = self._made.setdefault(kind, [])
        made.append(batch)
        if sum(map(len, made)) >= _BATCH:
            self._flush(kind)

    def _flush(self, kind: str) -> None:
        import pyarrow as pa

        self._write(kind, pa.Table.from_batches(self._made.pop(kind)).combine_chunks())


def in_order(rows: Iterable[Row]) -> Iterator[Columns]:
    """The rows of a file, those of each kind in the order of their positions."""
    import pyarrow as pa
    import pyarrow.compute as pc

    tables: dict[str, list[pa.Table]] = {}
    kept = Rows(lambda kind, table: tables.setdefault(kind, []).append(table))
    kept.add(rows)
    kept.flush()
    for kind, some in tables.items():
        table = pa.concat_tables(some)
        table = table.take(pc.sort_indices(table["position"]))
        yield from (Columns(kind, batch) for batch in table.to_batches())


class Writers:
    """A file called `name` for each kind, created with its first row."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._files: dict[str, Any] = {}

    def write(self, kind: str, table: "pa.Table") -> None:
        import pyarrow.parquet as pq

        if not len(table):
            return
        if kind not in self._files:
            path = self._folder / f"kind={kind}" / f"{self._name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            self._files[kind] = pq.ParquetWriter(path, table.schema)
        self._files[kind].write_table(table)

    def close(self) -> None:
        for file in self._files.values():
            file.close()
