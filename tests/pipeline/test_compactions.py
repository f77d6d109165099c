"""Records that were compacted while a group was away."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.signatures import compactions

from .rows import SECOND, History, found_in, healthy

STATE: dict[str, Any] = {"group": "billing", "topic": None, "partition": None}
RECORDS = "orders-0/00000000000000000000.log"


def story(*, away: bool = True, cleaned: int = 150, left: int = 140, back: int = 150) -> list[Observation]:
    """A group with the offset 50 comes back after the log was compacted up to `cleaned`."""
    rows = History("segment").add("group", detail="Stable", generation=1, **STATE).commit(50)
    rows.add("group", detail="Empty" if away else "Stable", generation=2, **STATE)
    rows.add("log", SECOND, source="broker-log", detail="compacted", broker=1, end_offset=cleaned)
    rows.add("group", detail="Stable", generation=3, **STATE).commit(back)
    kept = [replace(each, file="__consumer_offsets-0/0.log") for each in rows.rows]
    log = History("segment").add("append", offset=0, end_offset=50).add("append", offset=left, end_offset=151)
    return [*kept, *(replace(each, file=RECORDS) for each in log.rows)]


def test_records_that_were_compacted_before_they_were_read() -> None:
    (one,) = found_in(story(), compactions.find)
    assert (one.signature, one.confidence) == ("compacted-before-read", "likely")
    assert (one.group, one.topic, one.partition, one.broker) == ("billing", "orders", 0, 1)
    assert "did not get up to 90 records of orders-0, from 50 up to 140" in one.summary


@pytest.mark.parametrize(
    "rows",
    [story(away=False), story(cleaned=50), story(left=50), story(back=100)],
    ids=["it was there", "it had read that", "nothing is missing", "it did not go so far"],
)
def test_what_a_group_may_have_read(rows: list[Observation]) -> None:
    assert found_in(rows, compactions.find) == []


def test_what_groups_read_every_day() -> None:
    assert found_in(healthy().rows, compactions.find) == []


def test_without_the_log_of_the_broker_nothing_is_found() -> None:
    rows = [each for each in story() if each.source != "broker-log"]
    assert found_in(rows, compactions.find) == []
