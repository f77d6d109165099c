"""Traces with their own columns, for Spark, and with file and line; other lines have the reason in
`error`."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ...dumps.files import LONGEST_LINE, Head
from ...json_texts import read_json
from ...trace.events import KINDS
from ...trace.files import AS_JSON, COLUMNS
from .files import head, readable

Row = tuple[Any, ...]
_PARQUET: Final = b"PAR1"
_TYPES: Final = {"string": str, "bool": bool}


def schema() -> Any:
    """The columns of a trace, after `file`, `line_at` (the byte, or the row of Parquet) and `error`."""
    import pyarrow as pa

    def kind(name: str) -> Any:
        if name.startswith("list<"):
            return pa.list_(kind(name[5:-1]))
        # Spark's casts fail with int16, but not with int32.
        return pa.bool_() if name == "bool" else pa.int32() if name == "int16" else getattr(pa, name)()

    own = [pa.field("file", pa.string()), pa.field("line_at", pa.int64()), pa.field("error", pa.string())]
    return pa.schema(own + [pa.field(name, kind(type_)) for name, type_ in COLUMNS.items()])


def cuts(path: Path, apart: int) -> list[int]:
    """Bytes at which lines begin; compressed files and Parquet are read as a whole."""
    first = head(path)
    if _whole(first):
        return [0]
    found, size = [0], path.stat().st_size
    with path.open("rb") as file:
        while found[-1] + apart < size:
            file.seek(found[-1] + apart)
            file.readline()
            if file.tell() >= size:
                break
            found.append(file.tell())
    return found


def _whole(first: Head) -> bool:
    return first.compressed or first.data.startswith(_PARQUET)


def rows(path: Path, start: int, end: int) -> Iterator[Row]:
    """The rows that begin from `start` to `end`; a line that is not an event has only `error`."""
    first = head(path)
    if first.data.startswith(_PARQUET):
        yield from _parquet(path)
        return
    with readable(path), gzip.open(path) if first.compressed else path.open("rb") as file:
        file.seek(start)
        at = start
        while (first.compressed or at < end) and (line := file.readline(LONGEST_LINE)):
            if at > 0:
                yield _row(line, str(path), at)
            at += len(line)


def _row(line: bytes, file: str, at: int) -> Row:
    try:
        event = read_json(line)
        if event["kind"] not in KINDS:
            raise ValueError(f"unknown kind {event['kind']!r}")
        return (file, at, None, *(_cell(name, event) for name in COLUMNS))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return (file, at, f"{type(error).__name__}: {error}", *[None] * len(COLUMNS))


def _cell(name: str, event: dict[str, Any]) -> Any:
    value = event.get(name)
    if value is None:
        return None
    if name in AS_JSON:
        return json.dumps(value, separators=(",", ":"))
    wanted = list if COLUMNS[name].startswith("list<") else _TYPES.get(COLUMNS[name], int)
    if not isinstance(value, wanted):
        raise TypeError(f"{name} is {type(value).__name__}, not {COLUMNS[name]}")
    return value


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        for batch in pq.ParquetFile(path).iter_batches():
            for event in batch.to_pylist():
                number += 1
                yield (str(path), number, None, *(event.get(name) for name in COLUMNS))
    except (pa.ArrowException, OSError, ValueError) as error:
        nothing = [None] * len(COLUMNS)
        yield (str(path), number + 1, f"Parquet can't be read on: {error}", *nothing)
