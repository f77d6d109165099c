"""What Fetch answers of large traces gave to clients: records from the offset that was asked for, before
which the first batch may begin.

Only requests say what was asked for: in a fetch session (KIP-227) maybe an earlier one of the connection.
"""

import pyarrow as pa
import pyarrow.compute as pc

from .pairing import replaced
from .rows import Rows

POSITION, FETCHED = "~position", "~fetched"
_CORRELATION = "#[^#]*#"


def taken(asked: pa.Table, answered: pa.Table, *, last: bool = False) -> Rows:
    """Kind and rows, from rows whose `text` is their exchange: `asked` are positions, `answered` are batches.
    Answers whose request is still missing are returned as they are, and so is what later ones may need. The
    `last` time, answers say what they can on their own.
    """
    at = _last_before(asked, answered, *(_key(rows, rows["text"]) for rows in (asked, answered)))
    if at.null_count:
        at = pc.coalesce(at, _last_before(asked, answered, *map(_of_connection, (asked, answered))))
    if not last:
        known = pc.is_valid(at)
        yield FETCHED, answered.filter(pc.invert(known))
        yield POSITION, _newest(asked)
        answered, at = answered.filter(known), at.filter(known)
    wanted = asked.select(["offset", "current_epoch", "detail"]).take(at)
    columns = {
        "offset": pc.max_element_wise(answered["offset"], wanted["offset"]),
        "current_epoch": wanted["current_epoch"],
        "api": None,
        "text": None,
    }
    to_a_client = pc.is_null(wanted["detail"])
    yield "fetched", replaced(answered, columns, to_a_client)


def _key(rows: pa.Table, of: pa.ChunkedArray) -> pa.ChunkedArray:
    parts = (of, rows["topic"], pc.cast(rows["partition"], pa.string()))
    return pc.binary_join_element_wise(*parts, "#", null_handling="replace", null_replacement="")


def _of_connection(rows: pa.Table) -> pa.ChunkedArray:
    return _key(rows, pc.replace_substring_regex(rows["text"], _CORRELATION, "#", max_replacements=1))


def _last_before(
    asked: pa.Table, answered: pa.Table, asked_key: pa.ChunkedArray, answered_key: pa.ChunkedArray
) -> pa.Array:
    """For each answer the last row of `asked` before it that has the same key; null for none."""
    codes = _codes(asked_key, answered_key)
    positions = _joined(asked["position"], answered["position"])
    order = pc.sort_indices(
        pa.table({"code": codes, "position": positions}),
        sort_keys=[("code", "ascending"), ("position", "ascending")],
    )
    is_request = pc.less(order, len(asked))
    before = pc.fill_null_forward(pc.if_else(is_request, order, None))
    same = pc.equal(codes.take(before), codes.take(order))
    found = pc.if_else(same, before, None).filter(pc.invert(is_request))
    return found.take(pc.sort_indices(order.filter(pc.invert(is_request))))


def _newest(asked: pa.Table) -> pa.Table:
    """The last row for each connection and partition."""
    codes = pa.table({"code": _codes(_of_connection(asked)), "nth": pa.array(range(len(asked)), pa.int64())})
    return asked.take(codes.group_by("code").aggregate([("nth", "max")])["nth_max"])


def _codes(*keys: pa.ChunkedArray) -> pa.Array:
    return pc.dictionary_encode(_joined(*keys)).indices


def _joined(*columns: pa.ChunkedArray) -> pa.Array:
    chunks = [chunk for column in columns for chunk in column.chunks]
    return pa.concat_arrays(chunks) if chunks else pa.array([], columns[0].type)


__all__ = ["FETCHED", "POSITION", "taken"]
