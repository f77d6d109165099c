"""Groups that do not get past a record."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.signatures import unreadable_records

from .rows import SECOND, History, Row, found_in, healthy
from .short_histories import stood_still


def found(rows: list[Observation]) -> list[Row]:
    return found_in(rows, unreadable_records.find)


def test_a_record_that_a_client_can_not_read() -> None:
    (one,) = found(stood_still().rows)
    assert (one.group, one.topic, one.partition, one.confidence) == ("billing", "orders", 1, "certain")
    assert "does not get past offset 30 of orders-1" in one.summary
    assert "20 times" in one.summary
    assert "the log goes to 49" in one.summary


def test_without_the_clients_log_it_is_only_possible() -> None:
    rows = [row for row in stood_still().rows if row.kind != "complaint"]
    assert [each.confidence for each in found(rows)] == ["possible"]


def paused(**values: Any) -> History:
    rows = stood_still()
    rows.rows.pop()
    own = {"group": "billing", "client": "a", "partition": 1, "source": "client-log"}
    return rows.add("paused", **{**own, **values})


def test_a_partition_that_was_paused() -> None:
    (one,) = found(paused().rows)
    assert (one.signature, one.confidence) == ("partition-paused", "likely")
    assert one.summary.startswith(
        "group billing had paused orders-1, and read nothing after 30: it committed"
    )
    assert one.evidence[-1].text.startswith("paused orders-1")


@pytest.mark.parametrize("values", [{"group": "other"}, {"partition": 0}, {"after_ms": 120 * SECOND}])
def test_one_that_was_paused_elsewhere(values: dict[str, Any]) -> None:
    """By another group, of another partition, or long after."""
    (one,) = found(paused(**values).rows)
    assert (one.signature, one.confidence) == ("record-unreadable", "possible")


@pytest.mark.parametrize("offset", [30, 50])
def test_a_group_that_stands_still_everywhere_or_has_read_all(offset: int) -> None:
    rows = History("segment")
    for nth in range(20):
        rows.commit(offset, 2 * SECOND, partition=1).commit(offset + (nth if offset == 50 else 0), 2 * SECOND)
        rows.add("append", offset=30 + nth, end_offset=31 + nth, partition=1)
    assert found(rows.rows) == []


def test_a_group_that_went_on_in_the_end() -> None:
    assert found([*stood_still().commit(31, partition=1).rows]) == []


def test_every_day() -> None:
    assert found(healthy().rows) == []
