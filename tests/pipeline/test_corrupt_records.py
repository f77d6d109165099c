"""Batches with a wrong checksum, as their search finds them."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.signatures import corrupt_records

from .rows import History, found_in

SEGMENT: dict[str, Any] = {"source": "segment", "time_ms": None}


def story(*stops: int, detail: str = "wrong CRC 0x1 (700 bytes)", goes_on: bool = True) -> History:
    """A batch that is damaged, from offset 10 up to 20, and the commits of a group."""
    rows = History("segment").add("append", offset=0, end_offset=10)
    rows.add("unreadable", detail=detail, **SEGMENT)
    if goes_on:
        rows.add("append", offset=20, end_offset=30)
    for each in stops:
        rows.commit(each, source="dump-log")
    return rows


def test_a_batch_before_which_a_group_stands() -> None:
    (one,) = found_in(story(5, 10).rows, corrupt_records.find)
    assert (one.signature, one.confidence, one.topic, one.partition) == (
        "record-corrupt",
        "likely",
        "orders",
        0,
    )
    assert "the batch of orders-0 from offset 10 up to 20 has a wrong checksum" in one.summary
    assert "in the way of billing:" in one.summary
    assert [each.position for each in one.evidence] == [2, 5]


@pytest.mark.parametrize(
    "rows",
    [story(10, 25), story(5), story(10, detail="ends early"), story(10, goes_on=False), story()],
    ids=["it went on", "it stands before that", "torn", "at the end", "no group"],
)
def test_what_stands_in_nobodys_way(rows: History) -> None:
    assert found_in(rows.rows, corrupt_records.find) == []
