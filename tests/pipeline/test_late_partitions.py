"""Partitions that a group found late, and groups that applications share, as searches find them."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.signatures import late_partitions, shared_groups

from .rows import SECOND, History, found_in, healthy

STATE: dict[str, Any] = {"group": "billing", "topic": None, "partition": None}
UNSUBSCRIBED = "Consumer group received unsubscribed topics"


def story(
    *, assigned_ms: int, waited_ms: int, offset: int, before: bool = True, created_ms: int | None = None
) -> list[Observation]:
    """Three records of a partition, which the group is given and commits later; a broker says when it created
    the log, after the group's first commit."""
    rows = History("dump-log").add("group", detail="Stable", generation=1, **STATE)
    if before:
        rows.commit(10)
    if created_ms is not None:
        log = {"partition": 1, "source": "broker-log", "detail": "created"}
        rows.add("log", 0, **{**log, "time_ms": rows.now_ms + created_ms})
    for nth in range(3):
        rows.add("append", offset=nth, end_offset=nth + 1, partition=1)
    rows.add("group", assigned_ms, detail="Stable", generation=2, **STATE)
    rows.add("append", waited_ms, offset=3, end_offset=4, partition=1)
    return rows.commit(offset, partition=1).rows


@pytest.mark.parametrize(
    ("created_ms", "signature", "confidence", "which"),
    [
        (SECOND, "partitions-found-late", "likely", "the new partition"),
        (None, "partitions-found-late", "possible", "the partition"),
        (-SECOND, "never-committed", "likely", "the partition"),
    ],
)
def test_a_partition_whose_first_records_a_group_did_not_get(
    created_ms: int | None, signature: str, confidence: str, which: str
) -> None:
    rows = story(assigned_ms=SECOND, waited_ms=90 * SECOND, offset=4, created_ms=created_ms)
    (one,) = found_in(rows, late_partitions.find)
    assert (one.group, one.topic, one.partition) == ("billing", "orders", 1)
    assert (one.signature, one.confidence) == (signature, confidence)
    assert f"was given {which} orders-1 after 3 records had been written" in one.summary


@pytest.mark.parametrize(
    "rows",
    [
        story(assigned_ms=SECOND, waited_ms=30 * SECOND, offset=4),
        story(assigned_ms=SECOND, waited_ms=90 * SECOND, offset=3),
        story(assigned_ms=-2 * SECOND, waited_ms=90 * SECOND, offset=4),
        story(assigned_ms=SECOND, waited_ms=90 * SECOND, offset=4, before=False),
    ],
    ids=["soon", "no more than that", "before they were written", "a new group"],
)
def test_what_may_have_been_read(rows: list[Observation]) -> None:
    assert found_in(rows, late_partitions.find) == []


def test_what_groups_read_every_day() -> None:
    assert found_in(healthy().rows, late_partitions.find) == []


def test_a_member_that_is_given_what_it_does_not_read() -> None:
    rows = History("client-log")
    for _ in range(2):
        rows.add("complaint", group="office", partition=None, detail=UNSUBSCRIBED)
    (one,) = found_in(rows.rows, shared_groups.find)
    assert (one.signature, one.confidence) == ("applications-share-a-group", "likely")
    assert (one.group, one.topic) == ("office", "orders")
    assert one.summary.endswith("(2 times)")


def test_other_complaints() -> None:
    rows = History("client-log").add("complaint", group="office", partition=None, detail="Crash: …")
    assert found_in(rows.rows, shared_groups.find) == []
