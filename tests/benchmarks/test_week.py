"""A week of traffic: what a cluster keeps stays what it is, whatever comes and goes."""

from collections import Counter

import pytest

from benchmarks.kept import ALL, kept
from benchmarks.week import Week

EXEMPT = ("LeaderEpochCache.", "Answer.", "Decision.", "Request.", "Decisions.")
"""In a compacted log each leader epoch that wrote something stays in the cache, as in Kafka, whose log start
offset never moves there either. A trace has its last events, of this size or that, and forgets decisions for
deleted topics only now and then."""


def grown(before: Counter[str], after: Counter[str]) -> dict[str, tuple[int, int]]:
    return {
        name: (before[name], count)
        for name, count in after.items()
        if not name.startswith(EXEMPT) and count > before[name] + max(12, before[name] // 10)
    }


@pytest.mark.parametrize(("traced", "step_hours", "days"), [(False, 4, 3), (True, 12, 4)])
def test_what_is_kept_does_not_grow(traced: bool, step_hours: int, days: int) -> None:
    week = Week(traced=traced, step_hours=step_hours)
    week.play(24 * days)
    before = week.kept()
    week.play(24 * days)
    after = week.kept()
    assert week.requests > 500
    assert grown(before, after) == {}
    assert after[ALL] < 1.02 * before[ALL]


class Node:
    __slots__ = ("found", "later")

    def __init__(self) -> None:
        self.found: dict[int, int] = {}
        self.later = lambda: self.found


def test_what_is_kept_is_found_wherever_it_is() -> None:
    node = Node()
    node.found.update(dict.fromkeys(range(50), 0))
    counts = kept({"a": [node.later]})
    assert counts["Node.found"] == 50
    assert counts["Node"] == 1
