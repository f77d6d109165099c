"""Records that were deleted because their timestamps were too old when they were written."""

from __future__ import annotations

from pathlib import Path

import pytest

from mockbroker.pipeline.signatures import old_timestamps

from .readers.reading import of_kind, rows
from .rows import History, found_in
from .short_histories import OLD, expired_at_once

IN_TIME = "after 3000 ms: written until 1795671434154, timestamps until 1795671434100"
LINE = (
    "[2026-11-26 05:37:35,635] INFO [UnifiedLog partition=orders-0, dir=/data] Deleting segment "
    "LogSegment(baseOffset=50, size=10359, lastModifiedTime=1795671434154, "
    "largestRecordTimestamp=%s) due to log retention time 604800000ms breach based on the largest record "
    "timestamp in the segment (org.apache.kafka.storage.internals.log.UnifiedLog)\n"
)


def told(rows: History) -> list[str]:
    return [each.summary for each in found_in(rows.rows, old_timestamps.find)]


def test_what_a_group_missed() -> None:
    (found,) = told(expired_at_once(OLD))
    assert found.startswith("the records of orders-0 below 300 were deleted, which were not read yet: ")
    assert (
        "group billing had read up to 100, and missed 200; their timestamps were 31536025049 ms old" in found
    )


@pytest.mark.parametrize(
    "rows",
    [
        expired_at_once(IN_TIME),
        expired_at_once(OLD).commit(300, after_ms=-1_500),
        History("broker-log").commit(100).add("expiry", offset=0, detail=OLD, broker=1),
        History("broker-log")
        .add("log-start", offset=300, detail="segment deletion")
        .add("expiry", detail=OLD),
    ],
    ids=["a retention that ended", "records that were read", "a log that begins as before", "no group"],
)
def test_what_harmed_nobody(rows: History) -> None:
    assert told(rows) == []


@pytest.mark.parametrize("stamp", ["1764135409105", "Some(1764135409105)"])
def test_what_brokers_say(stamp: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    path.write_text(LINE % stamp)
    (row,) = of_kind(rows(path), "expiry")
    assert (row["topic"], row["partition"], row["offset"], row["detail"]) == ("orders", 0, 50, OLD)
