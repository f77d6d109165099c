"""Runs in Parquet files, with the columns of `exploring.COLUMNS`."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .exploring import COLUMNS


def write(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """A whole file or none. ImportError without pyarrow, which is in the extra `mockbroker[parquet]`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise ImportError("Parquet needs pyarrow: pip install 'mockbroker[parquet]'") from None

    path.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist([dict(row) for row in rows], schema=arrow_schema())
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    pq.write_table(table, unfinished)
    unfinished.replace(path)


def arrow_schema() -> Any:
    """The columns as Arrow has them."""
    import pyarrow as pa

    def kind(name: str) -> Any:
        if name.startswith("list<"):
            return pa.list_(kind(name[5:-1]))
        return pa.bool_() if name == "bool" else getattr(pa, name)()

    return pa.schema([pa.field(name, kind(type_)) for name, type_ in COLUMNS.items()])
