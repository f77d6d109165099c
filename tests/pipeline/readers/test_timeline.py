"""A timeline that people wrote: KAFKA-19902's facts F9 to F13, as bullets and as a table."""

from __future__ import annotations

from pathlib import Path

from .reading import STORIES, of_kind, rows, source

BULLETS = STORIES / "kafka-19902-timeline.txt"
ERROR_MS = 1763567249777


def test_bullets() -> None:
    assert source(BULLETS) == "timeline"
    found = rows(BULLETS)
    rebalance, stable = of_kind(found, "group")
    assert rebalance["detail"].startswith("PreparingRebalance")
    assert stable == {"time_ms": ERROR_MS - 10782, "generation": 1702, "detail": "Stable"}
    lost = {"time_ms": ERROR_MS, "offset": 30795753, "current_epoch": 6}
    assert of_kind(found, "refused") == [{**lost, "api": "Fetch", "error": "OFFSET_OUT_OF_RANGE"}]
    assert of_kind(found, "position") == [{**lost, "detail": "at error time"}]
    (in_sync,) = of_kind(found, "in-sync-replicas")
    assert (in_sync["replicas"], in_sync["detail"]) == ([10], "shrank from 10,11,30")
    assert of_kind(found, "truncation") == [{"time_ms": ERROR_MS + 2495, "offset": 30795645}]


def test_eleven_is_a_broker_where_the_isr_has_it(tmp_path: Path) -> None:
    epoch, broker = of_kind(rows(BULLETS), "leader")
    assert (epoch["leader_epoch"], epoch.get("leader")) == (7, None)
    assert (broker["leader"], broker.get("leader_epoch")) == (11, None)
    path = tmp_path / "incident.txt"
    path.write_text(BULLETS.read_text().replace("[10,11,30]", "[10,20,30]"))
    assert [each.get("leader_epoch") for each in of_kind(rows(path), "leader")] == [7, 11]


def test_a_table() -> None:
    path = STORIES / "kafka-19902-table.txt"
    assert source(path) == "timeline"
    found = rows(path)
    (refused,) = of_kind(found, "refused")
    assert (refused["offset"], refused["current_epoch"], refused["time_ms"]) == (30795753, 6, ERROR_MS)
    (marks,) = of_kind(found, "high-watermark")
    assert (marks["offset"], marks["end_offset"]) == (30795645, 30795647)
    (leader,) = of_kind(found, "leader")
    assert (leader["leader"], leader["leader_epoch"]) == (11, 7)
    (truncated,) = of_kind(found, "truncation")
    assert truncated["offset"] == 30795645


def test_past_midnight_it_is_the_next_day(tmp_path: Path) -> None:
    path = tmp_path / "incident.txt"
    path.write_text(
        "2025-11-19 UTC\n"
        "- 23:59:59.000: truncating partition to offset 5\n"
        "- 00:00:01.000: ISR shrinking from [1,2] to [1]\n"
    )
    truncated, in_sync = rows(path)
    assert in_sync["time_ms"] - truncated["time_ms"] == 2000
