"""Runs in files, with the columns of `exploring.COLUMNS`."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..extras import MissingExtraError
from .exploring import COLUMNS


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes a Parquet file, completely or not at all. MissingExtraError without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Parquet needs pyarrow", "parquet") from None

    table = pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema())
    with _whole(path) as unfinished:
        pq.write_table(table, unfinished)


def write_json_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes a file of JSON lines, completely or not at all."""
    with _whole(path) as unfinished:
        unfinished.write_text("".join(json.dumps(dict(row)) + "\n" for row in rows))


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A path to write to, which replaces `path` once everything is written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    yield unfinished
    unfinished.replace(path)


def arrow_schema() -> Any:
    """The columns as an Arrow schema."""
    import pyarrow as pa

    def kind(name: str) -> Any:
        if name.startswith("list<"):
            return pa.list_(kind(name[5:-1]))
        return pa.bool_() if name == "bool" else getattr(pa, name)()

    return pa.schema([pa.field(name, kind(type_)) for name, type_ in COLUMNS.items()])
