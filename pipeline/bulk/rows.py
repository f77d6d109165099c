"""What parsed rows of a trace say, whole columns at a time, by the rules of `readers/fields.py`.

Rows that need no other row are complete. Of exchanges that need both sides, requests become `~asked` and
answers `~answered`, those of Fetch `~position` and `~fetched`, and failed Fetches `~refused`; `text`
identifies the exchange, until `pairing` and `fetching` are done.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..observations import NAMES
from ..readers import share_exchanges
from ..readers.fields import ANSWERED, ASKED, STATES, Field, Fields, Part, answered_in, asked_in
from ..writing import folder_schema
from .parsing import APIS

Columns = Mapping[str, Any]
Rows = Iterator[tuple[str, pa.Table]]
SCHEMA: Final = folder_schema()
_COMMON: Final = ["position", "time_ms", "broker", "client_id"]


class Parts(NamedTuple):
    """Partitions in bodies: `parent` is the row of each, `values` its fields, `topic` its topic's name."""

    parent: pa.Array
    topic: pa.Array
    values: pa.StructArray
    group: pa.Array | None = None

    def __getitem__(self, name: str) -> pa.Array:  # type: ignore[override]
        return pc.struct_field(self.values, name)

    @property
    def index(self) -> pa.Array:
        return pc.coalesce(self["partition_index"], self["partition"], self["index"])

    def where(self, mask: pa.Array) -> "Parts":
        mask = pc.fill_null(mask, False)
        group = None if self.group is None else self.group.filter(mask)
        return Parts(self.parent.filter(mask), self.topic.filter(mask), self.values.filter(mask), group)


def told(rows: pa.Table, positions: pa.Array, file: str, names: Mapping[str, str]) -> Rows:
    """Kind and rows. `positions` are the positions of `rows` in the file; `names` are names of topic ids."""
    for kind, made in _told(rows, positions, file):
        yield kind, _named(made, names) if names else made


def _named(rows: pa.Table, names: Mapping[str, str]) -> pa.Table:
    at = pc.index_in(rows["topic"], pa.array(list(names)))
    named = pa.array(list(names.values())).take(_whole(at))
    topic = pc.coalesce(named, _whole(rows["topic"]))
    return rows.set_column(rows.schema.get_field_index("topic"), rows.schema.field("topic"), topic)


def _told(rows: pa.Table, positions: pa.Array, file: str) -> Rows:
    rows = rows.append_column("position", positions).combine_chunks()
    # Bodies are the greater part of a trace: only those that are read are copied.
    states = rows.drop_columns(["body"]).filter(
        pc.invert(pc.is_in(rows["kind"], pa.array(["request", "answer"])))
    )
    for kind, columns in STATES.items():
        fits = pc.equal(states["kind"], "follower" if kind == "follower-failure" else kind)
        if kind == "follower-failure":
            fits = pc.and_(fits, pc.equal(states["state"], "failed"))
        some = states.filter(fits)
        yield kind, _made(some, file, {name: some[source] for name, source in columns.items()})
    exchanges = _Exchanges(rows)
    for api in APIS:
        # Even of no rows a body is slow to take apart.
        if len(asked := exchanges.requests(api)):
            yield from _REQUESTS.get(api, _asked)(asked, api, file)
        if len(answered := exchanges.answers(api)):
            yield from _ANSWERS.get(api, _answered)(answered, api, file)
    yield "refused", _refused(exchanges.refusals(), file)


class _Exchanges:
    """The requests and answers among some rows, with only the columns that are used."""

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows.select([*_COMMON, "api", "connection", "correlation_id", "names", "errors", "body"])
        self._requests = pc.equal(rows["kind"], "request")
        self._answers = pc.and_(pc.equal(rows["kind"], "answer"), pc.equal(rows["outcome"], "answer"))

    def requests(self, api: str) -> pa.Table:
        return self._where(pc.and_(self._requests, pc.equal(self._rows["api"], api)))

    def answers(self, api: str) -> pa.Table:
        return self._where(pc.and_(self._answers, pc.equal(self._rows["api"], api)))

    def refusals(self) -> pa.Table:
        """Answers with any error."""
        return self._where(pc.and_(self._answers, pc.greater(pc.list_value_length(self._rows["errors"]), 0)))

    def _where(self, mask: pa.Array) -> pa.Table:
        return self._rows.filter(mask).combine_chunks()


def _fetch(asked: pa.Table, api: str, file: str) -> Rows:
    parts = _parts(asked, *asked_in(api))
    body = _body(asked)
    replica = pc.max_element_wise(
        pc.struct_field(body, "replica_id"),
        pc.struct_field(pc.struct_field(body, "replica_state"), "replica_id"),
    )
    follower = pc.binary_join_element_wise("follower", pc.cast(_known(replica), pa.string()), " ")
    columns = {"detail": follower.take(parts.parent), **_fields(ASKED[api], asked, parts)}
    yield "~position", _of_exchanges(asked, parts, file, api, **columns)


def _fetched(answered: pa.Table, api: str, file: str) -> Rows:
    parts = _parts(answered, *answered_in(api))
    fine = pc.equal(parts["error_code"], "NONE")
    some = parts.where(pc.and_(fine, pc.greater(pc.list_value_length(parts["records"]), 0)))
    columns = _fields(ANSWERED[api], answered, some)
    yield "~fetched", _of_exchanges(answered, some, file, api, **columns)
    bad = parts.where(pc.invert(fine))
    error = bad["error_code"]
    yield "~refused", _of_parts(answered, bad, file, api=_constant(api, bad), error=error)


def _offset_fetch(asked: pa.Table, api: str, file: str) -> Rows:
    group = _some(pc.struct_field(_body(asked), "group_id"))
    exchange = {"api": pa.repeat(api, len(asked)), "text": _exchange(asked)}
    yield "~asked", _made(asked, file, {**exchange, "group": group})


def _offset_fetched(answered: pa.Table, api: str, file: str) -> Rows:
    """Since v8 an answer names its groups; before, only the request does."""
    groups = pc.struct_field(_body(answered), "groups")
    row, group = pc.list_parent_indices(groups), pc.list_flatten(groups)
    topics = pc.struct_field(group, "topics")
    parts = _flattened(topics, "partitions", answered.take(row))
    name = pc.struct_field(group, "group_id").take(parts.parent)
    now = Parts(row.take(parts.parent), parts.topic, parts.values, name)
    before = _parts(answered, "topics", "partitions")
    fine = pc.equal(now["error_code"], "NONE")
    good, bad = now.where(fine), now.where(pc.invert(fine))
    restored = _fields(ANSWERED[api], answered, good)
    yield "restore", _of_parts(answered, good, file, group=good.group, **restored)
    refused = {"group": bad.group, "api": _constant(api, bad), "error": bad["error_code"]}
    yield "refused", _of_parts(answered, bad, file, **refused)
    columns = {"error": _failure(before), **_fields(ANSWERED[api], answered, before)}
    yield "~answered", _of_exchanges(answered, before, file, api, **columns)


def _asked(rows: pa.Table, api: str, file: str) -> Rows:
    parts = _parts(rows, *asked_in(api))
    yield "~asked", _of_exchanges(rows, parts, file, api, **_fields(ASKED[api], rows, parts))


def _answered(rows: pa.Table, api: str, file: str) -> Rows:
    parts = _parts(rows, *answered_in(api))
    columns = {"error": _failure(parts), **_fields(ANSWERED.get(api, {}), rows, parts)}
    yield "~answered", _of_exchanges(rows, parts, file, api, **columns)


def _fields(fields: Fields, rows: pa.Table, parts: Parts) -> dict[str, pa.Array]:
    kinds = {field.part for field in fields.values()}
    body = _body(rows) if Part.BODY in kinds else None
    first, last = _ends(parts["records"]) if kinds & {Part.FIRST, Part.LAST} else ({}, {})
    of = {
        Part.BODY: lambda name: pc.struct_field(body, name).take(parts.parent),
        Part.PARTITION: parts.__getitem__,
        Part.FIRST: first.__getitem__,
        Part.LAST: last.__getitem__,
        Part.CONSTANT: lambda name: _constant(name, parts),
    }
    return {column: _value(field, of[field.part]) for column, field in fields.items()}


def _value(field: Field, of: Callable[[str], pa.Array]) -> pa.Array:
    value = pc.coalesce(*map(of, field.names)) if len(field.names) > 1 else of(field.names[0])
    if field.called is not None:
        return pa.array(field.called.values()).take(pc.index_in(value, pa.array(field.called, value.type)))
    value = _known(value) if field.known and field.part is not Part.CONSTANT else value
    if field.before:
        return pc.binary_join_element_wise(field.before, pc.cast(value, pa.string()), " ")
    return pc.add(value, of(field.plus)) if field.plus else value


_REQUESTS: Final = {"Fetch": _fetch, "OffsetFetch": _offset_fetch}
_ANSWERS: Final = {"Fetch": _fetched, "OffsetFetch": _offset_fetched}
"""By API, if not `_asked` and `_answered`."""


def _refused(bad: pa.Table, file: str) -> pa.Table:
    """Refusals by APIs whose bodies are not read, and those that are not about a partition: the first
    error. Those of share groups are in `shares`."""
    body = _body(bad)
    empty = pc.and_(_empty(pc.struct_field(body, "topics")), _empty(pc.struct_field(body, "responses")))
    empty = pc.and_(empty, _empty(pc.struct_field(body, "groups")))
    bad = bad.filter(pc.or_(empty, pc.invert(pc.is_in(bad["api"], pa.array(APIS)))))
    bad = bad.filter(pc.invert(pc.is_in(bad["api"], pa.array(share_exchanges.APIS)))).combine_chunks()
    return _made(bad, file, {"api": bad["api"], "error": pc.list_element(bad["errors"], 0)})


def _empty(lists: pa.Array) -> pa.Array:
    return pc.fill_null(pc.equal(pc.list_value_length(lists), 0), True)


def _parts(rows: pa.Table, topics: str, partitions: str) -> Parts:
    return _flattened(pc.struct_field(_body(rows), topics), partitions, rows)


def _flattened(lists: pa.Array, partitions: str, rows: pa.Table) -> Parts:
    row, topics = pc.list_parent_indices(lists), pc.list_flatten(lists)
    parts = pc.struct_field(topics, partitions)
    of = pc.list_parent_indices(parts)
    names = _whole(rows["names"]).take(row)
    # A body with only a topic id is about the topic that the row names, if it names only one.
    single = pc.equal(pc.list_value_length(names), 1)
    only = pc.if_else(single, pc.list_element(_padded(names), 0), None)
    name = pc.coalesce(
        _some(pc.struct_field(topics, "topic")),
        _some(pc.struct_field(topics, "name")),
        pc.replace_substring_regex(only, r"-\d+$", ""),
        pc.struct_field(topics, "topic_id"),
    )
    return Parts(row.take(of), name.take(of), pc.list_flatten(parts))


def _padded(lists: pa.Array) -> pa.Array:
    """Lists with at least one element, since others have no first one."""
    return pc.if_else(pc.greater(pc.list_value_length(lists), 0), lists, pa.scalar([""], lists.type))


def _ends(lists: pa.Array) -> tuple[dict[str, pa.Array], dict[str, pa.Array]]:
    """The fields of the first and the last element of each list; null if it is empty or null."""
    counts = pc.fill_null(pc.cast(pc.list_value_length(lists), pa.int64()), 0)
    ends = pc.cumulative_sum(counts)
    some = pc.greater(counts, 0)
    values = pc.list_flatten(lists)
    fields = {field.name: pc.struct_field(values, field.name) for field in lists.type.value_type}
    first, last = (pc.if_else(some, at, None) for at in (pc.subtract(ends, counts), pc.subtract(ends, 1)))
    return (
        {name: each.take(first) for name, each in fields.items()},
        {name: each.take(last) for name, each in fields.items()},
    )


def _body(rows: pa.Table) -> pa.StructArray:
    return _whole(rows["body"])


def _whole(column: pa.ChunkedArray) -> pa.Array:
    # Combining copies even a single chunk.
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _exchange(rows: pa.Table) -> pa.Array:
    numbers = (pc.cast(rows[name], pa.string()) for name in ("broker", "correlation_id"))
    return _whole(pc.binary_join_element_wise(*numbers, rows["connection"], "#"))


def _failure(parts: Parts) -> pa.Array:
    error = parts["error_code"]
    return pc.if_else(pc.equal(error, "NONE"), None, error)


def _some(values: pa.Array) -> pa.Array:
    return pc.if_else(pc.equal(values, ""), None, values)


def _known(values: pa.Array) -> pa.Array:
    if pa.types.is_string(values.type):
        return _some(values)
    return pc.if_else(pc.greater_equal(values, 0), values, None)


def _constant(value: str, parts: Parts) -> pa.Array:
    return pa.repeat(value, len(parts.parent))


def _of_parts(rows: pa.Table, parts: Parts, file: str, **columns: pa.Array) -> pa.Table:
    return _made(
        rows.select(_COMMON).take(parts.parent),
        file,
        {"topic": parts.topic, "partition": parts.index, **columns},
    )


def _of_exchanges(rows: pa.Table, parts: Parts, file: str, api: str, **columns: pa.Array) -> pa.Table:
    """With the exchange, until its other half is found."""
    text = _exchange(rows).take(parts.parent)
    return _of_parts(rows, parts, file, api=_constant(api, parts), text=text, **columns)


def without_text(rows: pa.Table) -> pa.Table:
    at = rows.schema.get_field_index("text")
    return rows.set_column(at, rows.schema.field(at), pa.nulls(len(rows), pa.string()))


def _made(rows: pa.Table, file: str, columns: Columns) -> pa.Table:
    count = len(rows)
    common = {
        "source": pa.repeat("trace", count),
        "file": pa.repeat(file, count),
        "position": rows["position"],
        "time_ms": rows["time_ms"],
        "broker": rows["broker"],
        "client": rows["client_id"],
    }
    given = {**common, **columns}
    arrays = [
        given[field.name].cast(field.type) if field.name in given else pa.nulls(count, field.type)
        for field in SCHEMA
    ]
    return pa.table(arrays, schema=SCHEMA)


assert set(NAMES) == {"kind", *SCHEMA.names}
