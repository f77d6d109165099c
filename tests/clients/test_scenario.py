"""The checks themselves: that they pass what a good client says, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence

import pytest

from .. import needs
from . import scenario
from .scenario import EXTRA, PARTITIONS, RECORDS, Event, Plan


def read(member: str, partition: int, first: int, last: int) -> Event:
    offsets = list(range(first, last))
    indexes = [offset * PARTITIONS + partition for offset in offsets]
    return {
        "event": "records",
        "member": member,
        "partition": partition,
        "offsets": offsets,
        "values": indexes,
    }


def assigned(member: str, *partitions: int) -> Event:
    return {"event": "assigned", "member": member, "partitions": list(partitions)}


@pytest.fixture
def events() -> list[Event]:
    """What a client says that does all as it should."""
    ends = [-(-(RECORDS - p) // PARTITIONS) for p in range(PARTITIONS)]
    last = [-(-(RECORDS + EXTRA - p) // PARTITIONS) for p in range(PARTITIONS)]
    return [
        Plan("topic").event(),
        {"event": "produced", "count": RECORDS},
        {"event": "joining", "member": "a"},
        assigned("a", 0, 1, 2),
        read("a", 0, 0, 200),
        {"event": "joining", "member": "b"},
        assigned("a"),
        assigned("b", 2),
        assigned("a", 0, 1),
        read("a", 0, 200, ends[0]),
        read("a", 1, 0, ends[1]),
        read("b", 2, 0, ends[2]),
        {"event": "committed", "offsets": dict(enumerate(ends))},
        {"event": "restarted"},
        {"event": "joining", "member": "a2"},
        assigned("a2", 0, 1, 2),
        *(read("a2", p, ends[p], last[p]) for p in range(PARTITIONS)),
        {"event": "done"},
    ]


def find(events: Sequence[Event], member: str, event: str = "records") -> Event:
    return [found for found in events if found["event"] == event and found["member"] == member][-1]


def lost(events: list[Event]) -> None:
    for what in ("offsets", "values"):
        find(events, "b")[what].pop()


def twice(events: list[Event]) -> None:
    events.insert(10, copy.deepcopy(events[4]))


def elsewhere(events: list[Event]) -> None:
    find(events, "b")["partition"] = 1


def out_of_order(events: list[Event]) -> None:
    indexes = find(events, "a")["values"]
    indexes[0], indexes[1] = indexes[1], indexes[0]


def no_rebalance(events: list[Event]) -> None:
    events.remove(find(events, "b", "assigned"))


def shared_partition(events: list[Event]) -> None:
    find(events, "b", "assigned")["partitions"].append(1)


def idle(events: list[Event]) -> None:
    find(events, "b")["member"] = "a"


def not_in_the_middle(events: list[Event]) -> None:
    events.insert(9, events.pop(4))


def not_committed(events: list[Event]) -> None:
    events[12]["offsets"][0] -= 1


def read_again(events: list[Event]) -> None:
    events.insert(-1, read("a2", 2, 300, 301))


def not_resumed(events: list[Event]) -> None:
    events.remove(find(events, "a2"))


def unfinished(events: list[Event]) -> None:
    events.pop()


def test_passes(events: list[Event]) -> None:
    scenario.check(events)


@pytest.mark.parametrize(
    "spoil",
    [
        lost,
        twice,
        elsewhere,
        out_of_order,
        no_rebalance,
        shared_partition,
        idle,
        not_in_the_middle,
        not_committed,
        read_again,
        not_resumed,
        unfinished,
    ],
)
def test_refuses(events: list[Event], spoil: Callable[[list[Event]], None]) -> None:
    spoil(events)
    with pytest.raises(AssertionError):
        scenario.check(events)


def test_static_members_get_their_partitions_back(events: list[Event]) -> None:
    events[0]["static"] = True
    with pytest.raises(AssertionError):
        scenario.check(events)
    events[-5]["partitions"] = [0, 1]
    events.insert(-1, assigned("b2", 2))
    scenario.check(events)


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_missing_tool(monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]) -> None:
    monkeypatch.setattr(needs, "declared", frozenset({"kcat"}))
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(outcome, match="kcat is not on PATH: install the package kcat"):
        needs.need("kcat")
