"""Requests and answers of large traces that need each other: extracted separately, then joined."""

from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from ..readers.fields import NOT_REFUSED, RULES
from .rows import SCHEMA, Rows

ASKED, ANSWERED = "~asked", "~answered"
_OLD_FETCH: Final = "OffsetFetch"
_OFFSETS: Final = ("offset", "leader_epoch", "current_epoch")
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
    of_request = {name: asked[name] for name in (*_OFFSETS, *NOT_REFUSED)}
    of_request |= {name: pc.coalesce(answers[name], asked[name]) for name in _GIVEN}
    common = of_request | {"text": None}
    yield "refused", replaced(answers, common | dict.fromkeys(NOT_REFUSED), pc.invert(fine))
    for rule in dict.fromkeys(RULES.values()):
        mask = _all(fine, _is(api, *(name for name in RULES if RULES[name] is rule)))
        if rule.asked is not None:
            mask = _all(mask, pc.is_valid(asked[rule.asked]))
        if not rule.any_offset:
            mask = _all(mask, pc.greater_equal(answers["offset"], 0))
        columns = common | {"api": None} | {name: answers[name] for name in rule.answered}
        if rule.counted:
            columns["end_offset"] = pc.add(answers["offset"], asked["end_offset"])
        # Whether it is a reset is told by what was before.
        yield "~listed" if rule.kind == "reset" else rule.kind, replaced(answers, columns, mask)


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
