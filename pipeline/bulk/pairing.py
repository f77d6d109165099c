"""Requests and answers of large traces that need each other: extracted separately, then joined."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ..readers.fields import COMMITS
from .rows import SCHEMA, Rows

ASKED, ANSWERED = "~asked", "~answered"
_OLD_FETCH: Final = "OffsetFetch"
_GIVEN: Final = ("group", "generation", "transactional_id", "producer_id", "producer_epoch", "sequence")


def pair(asked: pa.Table, answered: pa.Table, *, last: bool = False) -> Rows:
    """Kind and rows of what a request and its answer say together; a row whose other half is still missing is
    returned as it is. The `last` time, answers say what they can on their own.
    """
    # Up to v7 OffsetFetch names its group only in the request, so there it is given once for all partitions.
    old, old_asked = (pc.equal(rows["api"], _OLD_FETCH) for rows in (answered, asked))
    yield from _pair(asked.filter(old_asked), answered.filter(old), ["text"], last)
    where = ["text", "topic", "partition"]
    yield from _pair(asked.filter(pc.invert(old_asked)), answered.filter(pc.invert(old)), where, last)


def _pair(asked: pa.Table, answered: pa.Table, key: list[str], last: bool) -> Rows:
    numbered = (
        rows.select(key).append_column("nth", pa.array(range(len(rows)), pa.int64()))
        for rows in (answered, asked)
    )
    left, right = numbered
    found = left.join(
        right, key, join_type="left outer", left_suffix="_answered", right_suffix="_asked", use_threads=False
    ).combine_chunks()
    found = found.sort_by("nth_answered")
    asked_at, answers = found["nth_asked"], answered.take(found["nth_answered"])
    if not last:
        paired = pc.is_valid(asked_at)
        yield ANSWERED, answers.filter(pc.invert(paired))
        yield ASKED, asked.filter(pc.invert(pc.is_in(right["nth"], asked_at)))
        asked_at, answers = asked_at.filter(paired), answers.filter(paired)
    yield from _told(asked.take(asked_at), answers)


def _told(asked: pa.Table, answers: pa.Table) -> Rows:
    api, fine = answers["api"], pc.is_null(answers["error"])
    given = {name: pc.coalesce(answers[name], asked[name]) for name in _GIVEN}
    # The columns of the request, except those that an answer knows better.
    of_request = {name: asked[name] for name in ("offset", "leader_epoch", "current_epoch")}
    common = given | of_request | {"api": None, "text": None, "end_offset": None, "detail": None}
    offset, epoch, detail = answers["offset"], answers["leader_epoch"], asked["detail"]
    was_written = pc.greater_equal(offset, 0)
    end = pc.add(offset, asked["end_offset"])
    epoch_text = pc.binary_join_element_wise("epoch", pc.cast(pc.fill_null(epoch, -1), pa.string()), " ")
    of_epoch = {"offset": None, "end_offset": answers["end_offset"], "detail": epoch_text}
    listed = pc.and_(pc.is_valid(detail), was_written)
    each: list[tuple[str, Any, dict[str, Any]]] = [
        ("commit", _all(_is(api, *COMMITS), pc.is_valid(asked["offset"])), {"detail": detail}),
        ("append", _all(_is(api, "Produce"), was_written), {"offset": offset, "end_offset": end}),
        ("epoch-answer", _is(api, "OffsetForLeaderEpoch"), of_epoch),
        ("~listed", _all(_is(api, "ListOffsets"), listed), _own(answers) | {"detail": detail}),
        ("restore", _is(api, _OLD_FETCH), _own(answers)),
    ]
    yield "refused", replaced(answers, common | {"api": api}, pc.invert(fine))
    for kind, mask, columns in each:
        yield kind, replaced(answers, common | columns, _all(fine, mask))


def _own(answers: pa.Table) -> dict[str, Any]:
    return {name: answers[name] for name in ("offset", "leader_epoch")}


def _is(api: pa.ChunkedArray, *names: str) -> pa.ChunkedArray:
    return pc.is_in(api, pa.array(names))


def _all(one: pa.ChunkedArray, other: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.fill_null(pc.and_(one, other), False)


def replaced(rows: pa.Table, columns: dict[str, Any], mask: pa.ChunkedArray) -> pa.Table:
    """Rows where `mask` is true, with other columns replacing theirs; null for None."""
    arrays = [
        rows[field.name].filter(mask)
        if field.name not in columns
        else pa.nulls(pc.sum(mask).as_py() or 0, field.type)
        if columns[field.name] is None
        else columns[field.name].filter(mask).cast(field.type)
        for field in SCHEMA
    ]
    return pa.table(arrays, schema=SCHEMA)
