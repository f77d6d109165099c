"""Events in files: JSON lines as they come, Parquet at the end. Both have the columns of `COLUMNS`.

The first line of a JSON lines file is `{"schema": "mockbroker-trace", "version": 2}`, which in Parquet is in
the file's metadata. A row has the columns of its kind; those of `AS_JSON` can have any value, which in
Parquet is JSON.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Final

from ..errors import MockBrokerError
from ..extras import MissingExtraError
from ..json_texts import read_json
from .as_json import as_json
from .event import Event
from .events import KINDS, SCHEMA_VERSION

SCHEMA: Final = "mockbroker-trace"
COLUMNS: Final = {
    "kind": "string",
    "number": "int64",
    "time_ms": "int64",
    "broker": "int32",
    "connection": "string",
    "client_id": "string",
    "api": "string",
    "version": "int16",
    "correlation_id": "int32",
    "names": "list<string>",
    "outcome": "string",
    "errors": "list<string>",
    "faults": "list<string>",
    "topic": "string",
    "partition": "int32",
    "leader": "int32",
    "leader_epoch": "int32",
    "in_sync_replicas": "list<int32>",
    "high_watermark": "int64",
    "last_stable_offset": "int64",
    "log_end_offset": "int64",
    "log_start_offset": "int64",
    "from_offset": "int64",
    "to_offset": "int64",
    "state": "string",
    "fenced": "bool",
    "failure": "string",
    "reason": "string",
    "group": "string",
    "coordinator": "int32",
    "generation": "int32",
    "members": "int32",
    "type": "string",
    "member_id": "string",
    "group_instance_id": "string",
    "host": "string",
    "epoch": "int32",
    "subscribed": "list<string>",
    "assigned": "list<string>",
    "active_tasks": "list<string>",
    "standby_tasks": "list<string>",
    "start_offset": "int64",
    "in_flight": "string",
    "transactional_id": "string",
    "producer_id": "int64",
    "producer_epoch": "int16",
    "name": "string",
    "answer": "string",
    "request": "int64",
    "source": "string",
    "scope": "string",
    "asked": "string",
    "answered": "string",
    "body": "string",
    "took_ms": "int32",
    "topic_id": "string",
    "partitions": "int32",
    "replication_factor": "int32",
    "offset": "int64",
    "epochs": "list<list<int64>>",
    "last_sequence": "int32",
    "missing": "int64",
    "known": "string",
    "rows": "string",
    "listener": "string",
    "protocol": "string",
    "mechanism": "string",
    "tls": "string",
    "principal": "string",
}
"""Name and Arrow type of every column."""
AS_JSON: Final = frozenset({"body", "asked", "answered", "rows", "in_flight", "known"})
"""The columns with values of any shape."""
_TUPLES: Final = {
    "rows",
    "in_flight",
    "known",
    *(name for name, kind in COLUMNS.items() if kind.startswith("list<")),
}


class TraceError(MockBrokerError, ValueError):
    """A file that is not a trace, or has an unknown schema; the message names file and line."""


class JsonLines:
    """Writes each event as it comes; a listener of a trace."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        file.write(json.dumps({"schema": SCHEMA, "version": SCHEMA_VERSION}) + "\n")

    def __call__(self, event: Event) -> None:
        self._file.write(as_json(event) + "\n")


def write_json_lines(path: Path, events: Iterable[Event]) -> None:
    """OSError."""
    with path.open("w") as file:
        lines = JsonLines(file)
        for event in events:
            lines(event)


def read_json_lines(path: Path) -> Iterator[Event]:
    """The events of a file. TraceError names the line that can't be read."""
    with path.open() as file:
        check_schema(path, file.readline())
        for number, line in enumerate(file, 2):
            try:
                yield event(read_json(line))
            except (ValueError, KeyError, TypeError) as error:
                raise TraceError(f"{path}:{number}: {error}") from None


def check_schema(path: Path, line: str) -> None:
    """TraceError if this first line is not that of a trace that can be read."""
    try:
        head = read_json(line)
        known = head["schema"] == SCHEMA
    except (ValueError, KeyError, TypeError):
        known = False
    if not known:
        raise TraceError(f"{path}:1: not a trace: its first line names no schema {SCHEMA!r}")
    if head["version"] > SCHEMA_VERSION:
        raise TraceError(
            f"{path}:1: schema version {head['version']}: this mockbroker can read 1 to {SCHEMA_VERSION}"
        )


def event(row: dict[str, Any]) -> Event:
    """The event of a row, which is consumed. LookupError or TypeError for a row that is not an event."""
    kind = KINDS[row.pop("kind")]
    values: Any = {name: _tuple(v) if name in _TUPLES else v for name, v in row.items()}
    return kind(**values)


def _tuple(value: Any) -> Any:
    return tuple(map(_tuple, value)) if type(value) is list else value


def read_parquet(path: Path) -> Iterator[Event]:
    """The events of a Parquet file. MissingExtraError without pyarrow; TraceError names the row that can't be
    read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Parquet needs pyarrow", "parquet") from None

    number = 0
    try:
        with pq.ParquetFile(path) as file:
            metadata = file.schema_arrow.metadata or {}
            if metadata.get(b"schema") != SCHEMA.encode():
                raise TraceError(f"{path}: not a trace: its metadata name no schema {SCHEMA!r}")
            for batch in file.iter_batches():
                for row in batch.to_pylist():
                    number += 1
                    fields = KINDS[row["kind"]].__dataclass_fields__
                    yield event({name: _value(name, row[name]) for name in ("kind", *fields)})
    except (pa.ArrowException, KeyError, TypeError) as error:
        raise TraceError(f"{path}, row {number}: {error}") from None


def _value(name: str, cell: Any) -> Any:
    return read_json(cell) if name in AS_JSON and cell is not None else cell


def write_parquet(path: Path, events: list[Event]) -> None:
    """Writes a Parquet file. MissingExtraError without pyarrow."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Parquet needs pyarrow", "parquet") from None

    kinds = {name: _arrow(pa, kind) for name, kind in COLUMNS.items()}
    rows = [event.row() for event in events]
    columns = {
        name: pa.array(
            [_cell(name, row) for row in rows],
            kind,
        )
        for name, kind in kinds.items()
    }
    about = {"schema": SCHEMA, "version": str(SCHEMA_VERSION)}
    pq.write_table(pa.table(columns).replace_schema_metadata(about), path)


def _arrow(pa: Any, kind: str) -> Any:
    if kind.startswith("list<"):
        return pa.list_(_arrow(pa, kind[5:-1]))
    return pa.bool_() if kind == "bool" else getattr(pa, kind)()


def _cell(name: str, row: dict[str, Any]) -> Any:
    value = row.get(name)
    return json.dumps(value, separators=(",", ":")) if name in AS_JSON and value is not None else value
