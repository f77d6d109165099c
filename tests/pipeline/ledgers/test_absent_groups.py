"""What is noted of commits for a group that has no members, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.ledgers import absent_groups

from .folding import OFFSETS, Rows, told

AWAY = ["Stable", 300, "Empty"]
"""A group that has gone."""
MEMBER = "consumer member m-1"


def log(*what: Any, file: str = OFFSETS) -> Rows:
    """States of the group, and commits."""
    rows = Rows(file, "segment", group="billing")
    for each in what:
        if isinstance(each, int):
            rows.add("commit", topic="orders", partition=0, offset=each)
        elif each is None:
            rows.add("tombstone", topic="orders", partition=0)
        else:
            rows.add("tombstone" if each.startswith("-") else "group", detail=each.removeprefix("-"))
    return rows


@pytest.mark.parametrize(
    ("what", "skipped"),
    [
        ([*AWAY, 1000, "Stable", 1010], (300, 1000)),
        ([MEMBER, 300, f"-{MEMBER}", 1000, MEMBER, 1010], (300, 1000)),
        ([*AWAY, 1000], None),
        ([*AWAY, 200, "Stable"], None),
        ([*AWAY, "Stable", 1000], None),
        ([*AWAY, 400, 500, 600, "Stable"], None),
        ([*AWAY, None, 1000, "Stable"], None),
        (["Empty", 300, 1000, "Stable"], None),
        ([MEMBER, "consumer member m-2", 300, f"-{MEMBER}", 1000, MEMBER], None),
    ],
)
def test_what_was_set_on_while_nobody_was_there(what: list[Any], skipped: tuple[int, int] | None) -> None:
    noted = [each for each in told(absent_groups.LEDGER, log(*what)) if each[0] != "came-back"]
    assert noted == ([("records-skipped", *skipped)] if skipped else [])


@pytest.mark.parametrize(
    ("what", "back"),
    [
        ([*AWAY, "Stable", 1000, 1100], (300, 1000)),
        ([*AWAY, "Stable", 310, "Empty", "Stable", 400, "Empty", "Stable", 420], (310, 400)),
        ([*AWAY, 500, "Stable", 1000], (500, 1000)),
        ([*AWAY, None, "Stable", 1000], None),
        (["Stable", 300, 1000], None),
        (["Empty", "Stable", 1000], None),
    ],
)
def test_where_a_group_goes_on_that_was_away(what: list[Any], back: tuple[int, int] | None) -> None:
    noted = [each for each in told(absent_groups.LEDGER, log(*what)) if each[0] == "came-back"]
    assert noted == ([("came-back", *back)] if back else [])


def test_each_replica_tells_it() -> None:
    what = [*AWAY, 1000, "Stable"]
    copy = log(*what, file=f"other/{OFFSETS}")
    assert told(absent_groups.LEDGER, log(*what), copy) == [("records-skipped", 300, 1000)] * 2


@pytest.mark.parametrize(
    ("what", "back"),
    [
        (["Stable", 40, 100, 60, "Empty", "Stable", 130], (60, 100)),
        (["Stable", 100, 40, 60, "Empty", "Stable", 130], (60, 100)),
        (["Stable", 40, 100, 60, 120, "Empty", "Stable", 130], None),
        (["Stable", 40, 100, 60, 130], None),
        (["Stable", 40, 60, 100, "Empty", "Stable", 130], None),
        (["Stable", 40, 100, 60, "Empty", None, "Stable", 130], None),
        (["Stable", 40, 100, 60, "Empty", 100, "Stable", 130], None),
    ],
)
def test_a_group_goes_on_from_a_commit_that_was_late(what: list[Any], back: tuple[int, int] | None) -> None:
    noted = [each for each in told(absent_groups.LEDGER, log(*what)) if each[0] == "commit-back"]
    assert noted == ([("commit-back", *back)] if back else [])


def test_a_group_that_has_another_partition_of_the_offsets_topic() -> None:
    """What replicas tell alike is no other partition."""
    before = log("Stable", 100, 200)
    copy = log("Stable", 100, 200, file=f"other/{OFFSETS}")
    after = Rows("__consumer_offsets-1/00000000000000000000.log", "segment", group="billing")
    for offset in (300, 310):
        after.add("commit", 600_000, topic="orders", partition=0, offset=offset)
    found = told(absent_groups.LEDGER, before, copy, after)
    assert [each for each in found if each[0] == "commit-missing"] == [("commit-missing", 200, None)]
