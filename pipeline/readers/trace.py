"""mockbroker's own traces (`docs/trace.md`), as JSON lines and Parquet.

`of_row` says what a single row means, and keeps no state; `Exchanges` adds what needs an earlier row: the
request of an answer, names of topic ids, and the reset after OFFSET_OUT_OF_RANGE.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from ...dumps.files import Head, Line
from ...json_texts import read_json
from ...trace.events import KINDS, SCHEMA_VERSION
from ...trace.files import SCHEMA
from ..observations import Observation
from . import exchanges
from .bodies import Names, Values
from .fetch_sessions import FetchSession
from .fields import STATES
from .files import MOST_TEXT, Reading, lines, readable, unreadable
from .registry import Reader
from .share_exchanges import READING, ShareSessions, in_flight

SOURCE: Final = "trace"
TAKEN_FOR: Final = "mockbroker trace"
Row = dict[str, Any]
_ASKED_EARLIER: Final = ("acquired", "acknowledged")
"""Brokers let members of share groups wait, and answer what others were told before."""
_PARQUET: Final = b"PAR1"


def of_row(row: Row, request: Row | None = None, names: Names | None = None) -> Iterator[Values]:
    """The columns for one row of a trace; `request` is the row of the request that it answers.

    KeyError or TypeError if the row lacks a field of its kind.
    """
    kind = row["kind"]
    if kind == "request":
        found = exchanges.of_request(row["api"], row["body"], names or {})
    elif kind == "answer":
        if row["outcome"] != "answer":
            return
        asked = request["body"] if request else {}
        found = exchanges.of_answer(row["api"], asked, row["body"], names or {})
    else:
        found = _state(row)
    for values in found:
        if request is not None and values["kind"] in _ASKED_EARLIER:
            asked = f"asked {row['time_ms'] - request['time_ms']} ms before"
            values["detail"] = f"{values['detail']}, {asked}"
        yield _common(row) | values


def _common(row: Row) -> Values:
    return {"time_ms": row["time_ms"], "broker": row.get("broker"), "client": row.get("client_id")}


def _state(row: Row) -> Iterator[Values]:
    kind = "follower-failure" if row["kind"] == "follower" else row["kind"]
    if kind in STATES and (kind != "follower-failure" or row["state"] == "failed"):
        yield {"kind": kind, **{column: row[name] for column, name in STATES[kind].items()}}
    elif kind == "share-partition":
        ranges = row["in_flight"]
        yield {
            "kind": kind,
            **{name: row[name] for name in ("topic", "partition", "group")},
            "broker": row["coordinator"],
            "offset": row["start_offset"],
            # In Parquet it is text.
            "detail": in_flight(read_json(ranges) if isinstance(ranges, str) else ranges) or None,
        }


class Exchanges:
    """Rows in the order of their file; keeps requests until they are answered."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self._asked: dict[tuple[Any, ...], Row] = {}
        self._sessions: dict[tuple[Any, ...], FetchSession] = {}
        self._shares = ShareSessions()
        self._lost: dict[tuple[Any, ...], int] = {}

    def rows(self, row: Row) -> Iterator[Values]:
        """Like `of_row`. A client's group is only known if the exchange itself names it."""
        request = None
        if row["kind"] == "request":
            self._asked[self._key(row)] = row
            self._learn(row)
        elif row["kind"] == "answer":
            request = self._asked.pop(self._key(row), None)
            if row["outcome"] == "answer":
                request = self._answered(row, request)
        for values in of_row(row, request, self.names):
            self._note(values)
            yield values
        if request is None or row["outcome"] != "answer":
            return
        if row["api"] == "ListOffsets":
            yield from self._resets(row, request)
        elif row["api"] in READING:
            bodies = request["body"], row["body"], self.names
            for values in self._shares.answered(row["api"], row.get("broker"), *bodies, row["time_ms"]):
                yield _common(row) | values

    def _learn(self, row: Row) -> None:
        """Learns a topic id's name if a request is about no other topic, and what a fetch session asks for
        from now on."""
        ids = exchanges.ids_in(row["body"])
        named = {*(row.get("names") or ())} - {row["body"].get("group_id")}
        topics = {name.rpartition("-")[0] for name in named}
        if len(ids) == 1 and len(topics) == 1:
            self.names.setdefault(*ids, *topics)
        if row["api"] == "Fetch":
            session = self._sessions.setdefault(self._key(row)[:2], FetchSession())
            session.asked(row["body"])
        elif row["api"] in READING:
            self._shares.asked(row.get("broker"), row["body"], self.names)

    def _answered(self, row: Row, request: Row | None) -> Row | None:
        """The request; a Fetch with everything that its session asks for."""
        if row["api"] == "Metadata":
            self.names |= exchanges.topic_ids(row["body"])
        session = self._sessions.get(self._key(row)[:2])
        if request is None or row["api"] != "Fetch" or session is None:
            return request
        return request | {"body": session.completed(request["body"], row["body"])}

    def _key(self, row: Row) -> tuple[Any, ...]:
        return row.get("broker"), row["connection"], row["correlation_id"]

    def _note(self, values: Values) -> None:
        if values.get("error") == "OFFSET_OUT_OF_RANGE" and values.get("offset") is not None:
            key = (values.get("client"), values.get("topic"), values.get("partition"))
            self._lost[key] = values["offset"]

    def _resets(self, row: Row, request: Row) -> Iterator[Values]:
        for values in exchanges.offsets_for_reset(request["body"], row["body"]):
            key = (row.get("client_id"), values["topic"], values["partition"])
            if (lost := self._lost.pop(key, None)) is not None:
                yield _common(row) | values | {"from_offset": lost}


def observation(
    values: Values, source: str, file: str, position: int, text: str | None = None
) -> Observation:
    row = Observation("", source, file, position, text=text)
    return replace(row, **values)


def recognises(head: Head) -> bool:
    if head.data.startswith(_PARQUET):
        return _is_parquet_trace(head.path)
    first = head.text.partition("\n")[0]
    return f'"{SCHEMA}"' in first and first.lstrip().startswith("{")


def _is_parquet_trace(path: Path) -> bool:
    """Also False without pyarrow: nothing else can read what a Parquet file contains."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        return False
    try:
        about = pq.read_schema(path).metadata or {}
    except (OSError, ValueError):
        return False
    return about.get(b"schema") == SCHEMA.encode()


def read(path: Path, reading: Reading) -> Iterator[Observation]:
    """`position` is the line, or in Parquet the row from 1. Reading continues after what can't be read."""
    with readable(path), path.open("rb") as file:
        parquet = file.read(4) == _PARQUET
    yield from _read_parquet(path) if parquet else _read_lines(path, reading)


def _read_lines(path: Path, reading: Reading) -> Iterator[Observation]:
    state, file = Exchanges(), str(path)
    for line in lines(path, reading):
        if isinstance(line, Observation):
            yield replace(line, source=SOURCE)
        elif line.number == 1:
            if reason := _unknown_version(line):
                yield unreadable(SOURCE, file, 1, reason, line.text)
                return
        else:
            yield from of_line(line, state, file)


def _unknown_version(line: Line) -> str:
    """Why a trace with this first line is not read at all."""
    try:
        version = read_json(line.text)["version"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return f"the first line tells no schema version: {error}"
    if not isinstance(version, int) or not 1 <= version <= SCHEMA_VERSION:
        return f"unknown schema version {version!r}: this mockbroker knows {SCHEMA_VERSION}"
    return ""


def of_line(line: Line, state: Exchanges, file: str) -> Iterator[Observation]:
    """What a line says after those before it."""
    try:
        row = read_json(line.text)
        found = list(_known(row, state))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}" if line.ended else f"torn last line: {error}"
        yield unreadable(SOURCE, file, line.number, reason, line.text)
        return
    for values in found:
        yield observation(values, SOURCE, file, line.number, line.text[:MOST_TEXT])


def _known(row: Any, state: Exchanges) -> Iterator[Values]:
    if not isinstance(row, dict):
        raise TypeError(f"a row is an object, not {type(row).__name__}")
    if row["kind"] not in KINDS:
        return  # new kinds do not change the version
    yield from state.rows(row)


def _read_parquet(path: Path) -> Iterator[Observation]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    state, file, number = Exchanges(), str(path), 0
    try:
        table = pq.ParquetFile(path)
        version = (table.schema_arrow.metadata or {}).get(b"version", b"?").decode(errors="replace")
        if not version.isdigit() or not 1 <= int(version) <= SCHEMA_VERSION:
            reason = f"unknown schema version {version!r}: this mockbroker knows {SCHEMA_VERSION}"
            yield unreadable(SOURCE, file, 0, reason)
            return
        for batch in table.iter_batches():
            for row in batch.to_pylist():
                number += 1
                yield from _parquet_row(row, state, file, number)
    except (pa.ArrowException, OSError, ValueError) as error:
        yield unreadable(SOURCE, file, number + 1, f"Parquet can't be read on: {error}")


def _parquet_row(row: Row, state: Exchanges, file: str, number: int) -> Iterator[Observation]:
    try:
        row = {name: value for name, value in row.items() if value is not None}
        if "body" in row:
            row["body"] = read_json(row["body"])
        found = list(_known(row, state))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        yield unreadable(SOURCE, file, number, f"{type(error).__name__}: {error}")
        return
    for values in found:
        yield observation(values, SOURCE, file, number)


READERS: Final = [Reader(SOURCE, TAKEN_FOR, recognises, read)]
