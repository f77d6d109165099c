"""Rebalances that wait for a member, told from those that wait for members that are gone."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.signatures import long_rebalances

from .rows import SECOND, History, found_in

MINUTE = 60 * SECOND
GROUP: dict[str, Any] = {"group": "billing", "topic": None, "partition": None, "broker": 1}
JOINED = "PreparingRebalance: Adding new member billing-2"
SILENT = "billing-1 left: its session expired"


def rebalance(took_ms: int, *members: str, ends: str = "CompletingRebalance") -> History:
    rows = History("broker-log").add("group", detail="Stable", generation=1, **GROUP)
    rows.add("group", detail=JOINED, generation=1, **GROUP)
    for each in members:
        rows.add("member", detail=each, **GROUP)
    rows.add("group", detail=JOINED, generation=1, **GROUP)
    return rows.add("group", took_ms, detail=ends, generation=2, **GROUP)


@pytest.mark.parametrize(
    ("history", "confidence"),
    [
        (rebalance(90 * SECOND), "likely"),
        (rebalance(90 * SECOND, "billing-2 joined"), "likely"),
        (rebalance(90 * SECOND, SILENT), "possible"),
        (rebalance(90 * SECOND, "billing-1 left: did not join again in time"), "possible"),
        (rebalance(50 * SECOND), None),
        (rebalance(90 * SECOND, ends="Empty"), None),
    ],
)
def test_a_group_waits_for_a_member(history: History, confidence: str | None) -> None:
    found = found_in(history.rows, long_rebalances.find)
    assert [each.confidence for each in found] == ([confidence] if confidence else [])
    assert all("a rebalance of group billing took 9" in each.summary for each in found)


def test_of_several_rebalances_the_longest_is_told() -> None:
    rows = rebalance(90 * SECOND)
    rows.add("group", detail="Stable", generation=2, **GROUP)
    rows.add("group", detail=JOINED, generation=2, **GROUP)
    rows.add("group", 5 * MINUTE, detail="CompletingRebalance", generation=3, **GROUP)
    (found,) = found_in(rows.rows, long_rebalances.find)
    assert "took 300 s" in found.summary
