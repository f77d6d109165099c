"""The table on disk: a folder of Parquet for each kind of row."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .observations import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa


def folder_schema() -> "pa.Schema":
    """The table's columns except the kind, which is the folder's name."""
    schema = arrow_schema()
    return schema.remove(schema.get_field_index("kind"))


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
