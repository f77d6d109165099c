"""Lines of a trace to Arrow tables, block by block: parsed by Arrow, and never row by row in Python.

A block that can't be parsed is halved until the lines that cause this are alone.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.json as pj

from ...json_texts import read_json
from ...trace.files import COLUMNS
from ..readers.fields import COMMITS
from ..readers.files import MOST_TEXT

_TEXT, _INT, _LONG = pa.string(), pa.int32(), pa.int64()
_BATCHES: Final = pa.list_(
    pa.struct(
        [
            *((name, _LONG) for name in ("base_offset", "producer_id")),
            *((name, _INT) for name in ("leader_epoch", "producer_epoch", "base_sequence", "records")),
        ]
    )
)
_LONGS: Final = ("fetch_offset", "end_offset", "base_offset", "offset", "timestamp", "committed_offset")
_INTS: Final = (
    *("partition", "partition_index", "index", "current_leader_epoch", "last_fetched_epoch", "leader_epoch"),
    "committed_leader_epoch",
)
_PARTITIONS: Final = pa.list_(
    pa.struct(
        [
            ("error_code", _TEXT),
            *((name, _LONG) for name in _LONGS),
            *((name, _INT) for name in _INTS),
            ("records", _BATCHES),
        ]
    )
)
TOPIC: Final = pa.struct(
    [
        *((name, _TEXT) for name in ("name", "topic", "topic_id")),
        *((name, _PARTITIONS) for name in ("partitions", "partition_data", "partition_responses")),
    ]
)
BODY: Final = pa.struct(
    [
        ("group_id", _TEXT),
        ("transactional_id", _TEXT),
        ("producer_id", _LONG),
        *((name, _INT) for name in ("producer_epoch", "replica_id", "generation_id_or_member_epoch")),
        ("generation_id", _INT),
        ("replica_state", pa.struct([("replica_id", _INT)])),
        *((name, pa.list_(TOPIC)) for name in ("topics", "topic_data", "responses")),
        ("groups", pa.list_(pa.struct([("group_id", _TEXT), ("topics", pa.list_(TOPIC))]))),
    ]
)
"""What is looked for in bodies; if an API uses a name for another shape, it is read without its body."""


def _kind(name: str) -> pa.DataType:
    if name.startswith("list<"):
        return pa.list_(_kind(name[5:-1]))
    # Arrow's JSON reader does not widen types.
    return pa.bool_() if name == "bool" else _INT if name == "int16" else getattr(pa, name)()


_READ: Final = (
    *("kind", "time_ms", "broker", "connection", "client_id", "api", "correlation_id", "names", "outcome"),
    *("errors", "topic", "partition", "leader", "leader_epoch", "in_sync_replicas"),
    *("high_watermark", "last_stable_offset"),
    *("log_end_offset", "log_start_offset", "from_offset", "to_offset", "state", "failure", "group"),
    *("coordinator", "generation", "transactional_id", "producer_id", "producer_epoch"),
)
_ROW: Final = pa.schema([(name, _kind(COLUMNS[name])) for name in _READ])
SCHEMA: Final = _ROW.append(pa.field("body", BODY))


class Bad(NamedTuple):
    """A line, the `nth` of its block, and the reason why it can't be read."""

    nth: int
    reason: str
    text: str


class Parsed(NamedTuple):
    """Rows, and the numbers of their lines in the block, from 0."""

    rows: pa.Table
    nth: pa.Array


def parse(data: bytes) -> tuple[list[Parsed], list[Bad]]:
    """Parses a block of whole lines; the last may have no newline. Blank lines are counted, and left out."""
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    rows = _rows(data, SCHEMA)
    if rows is not None and rows.num_rows == count:
        return [Parsed(rows, pa.array(range(count), _LONG))], []
    bad: list[Bad] = []
    numbered = [(nth, line) for nth, line in enumerate(data.split(b"\n")[:count]) if line.strip()]
    found = [good for good in _halved(numbered, bad) if isinstance(good, Parsed)]
    return found, bad


def _halved(numbered: list[tuple[int, bytes]], bad: list[Bad]) -> Iterator[Parsed]:
    if not numbered:
        return
    rows = _rows(b"\n".join(line for _, line in numbered), SCHEMA)
    if rows is not None and rows.num_rows == len(numbered):
        yield Parsed(rows, pa.array([nth for nth, _ in numbered], _LONG))
    elif len(numbered) > 1:
        middle = len(numbered) // 2
        yield from _halved(numbered[:middle], bad)
        yield from _halved(numbered[middle:], bad)
    else:
        ((nth, line),) = numbered
        alone = _without_body(line)
        if alone is not None:
            yield Parsed(alone, pa.array([nth], _LONG))
        else:
            bad.append(Bad(nth, _reason(line), line.decode(errors="replace")[:MOST_TEXT]))


def _without_body(line: bytes) -> pa.Table | None:
    """A request or an answer whose body nobody needs."""
    rows = _rows(line, _ROW)
    if rows is None or rows.num_rows != 1 or rows["api"][0].as_py() in (None, *APIS):
        return None
    return rows.append_column("body", pa.nulls(1, BODY))


def _reason(line: bytes) -> str:
    try:
        row = read_json(line)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"
    return (
        "a value is not of its kind"
        if isinstance(row, dict)
        else f"a row is an object, not {type(row).__name__}"
    )


def _rows(data: bytes, schema: pa.Schema) -> pa.Table | None:
    """None if Arrow can't read it."""
    try:
        return pj.read_json(
            pa.BufferReader(data),
            pj.ReadOptions(use_threads=False, block_size=max(len(data) + 1, 64)),
            pj.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except pa.ArrowInvalid:
        return None


PAIRED: Final = (*COMMITS, "Produce", "OffsetForLeaderEpoch", "ListOffsets")
APIS: Final = ("Fetch", "OffsetFetch", *PAIRED)
"""The APIs whose bodies are read."""


def with_bodies(rows: pa.Table) -> pa.Table:
    """Rows of a Parquet trace, whose bodies are JSON text. ArrowInvalid for a body that can't be read."""
    import pyarrow.compute as pc

    texts = rows["body"].combine_chunks()
    read = pc.is_in(rows["api"].combine_chunks(), pa.array(APIS))
    wanted = pc.fill_null(pc.and_(read, pc.is_valid(texts)), False)
    lines = pc.if_else(wanted, texts, pa.scalar("{}"))
    one = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
    data = pc.binary_join(one, "\n").cast(pa.binary())[0].as_buffer()
    body = pj.read_json(
        pa.BufferReader(data),
        pj.ReadOptions(use_threads=False, block_size=max(data.size + 1, 64)),
        pj.ParseOptions(explicit_schema=pa.schema(list(BODY)), unexpected_field_behavior="ignore"),
    )
    bodies = body.select([field.name for field in BODY]).to_struct_array()
    if isinstance(bodies, pa.ChunkedArray):
        bodies = bodies.combine_chunks()
    known = rows.select(_ROW.names).cast(_ROW)
    return known.append_column("body", pc.if_else(wanted, bodies, pa.nulls(len(bodies), BODY)))
