"""Where members read on after a seek, and what they commit then, case by case."""

from typing import Any

import pytest

from mockbroker.clients.hunt.journal import (
    Called,
    Committed,
    Entry,
    Journal,
    Opened,
    Owns,
    Read,
    Sent,
    Sought,
)
from mockbroker.clients.hunt.judging.altered import altered
from mockbroker.clients.hunt.judging.consumers import begins_elsewhere
from mockbroker.clients.hunt.judging.seeking import offsets_by_time, sought_elsewhere
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser
from mockbroker.clients.hunt.stage import InLog, Outcome

PLACE = ("topic", 0)
RECORDS = 6


def of(member: str) -> dict[str, Any]:
    return {"user": member, "handle": f"{member}-1"}


A, B = of("a"), of("b")


def outcome(*entries: Entry) -> Outcome:
    fields = {"group": "g", "topics": ["topic"]}
    users = tuple(PlannedUser(name, "member", {}, fields) for name in "ab")
    made = Outcome(Plan(1, "4.4", 1, (PlannedTopic("topic", 1),), users), Journal())
    made.logs[PLACE] = [
        InLog(n, b"%d:plain:" % n, True, b"k", (("h", b"x"),), timestamp_ms=100 + n // 2)
        for n in range(RECORDS)
    ]
    made.log_starts[PLACE] = 0
    for entry in (Opened(**A, config={}), Opened(**B, config={}), *entries):
        made.journal.add(entry)
    return made


def owns(member: dict[str, Any], *, gains: bool = True) -> Owns:
    return Owns(**member, gains=gains, partitions=(PLACE,))


def read(member: dict[str, Any], *offsets: int) -> list[Read]:
    return [Read(**member, topic="topic", partition=0, offset=n, value=b"%d:plain:" % n) for n in offsets]


def sought(to: str, offset: int) -> Sought:
    return Sought(**A, topic="topic", partition=0, offset=offset, to=to)


def commits(member: dict[str, Any], offset: int) -> Committed:
    return Committed(**member, group="g", offsets={PLACE: offset}, began=0, error=None)


@pytest.mark.parametrize(
    ("to", "offset", "reads", "is_wrong"),
    [
        ("beginning", 0, 0, False),
        ("beginning", 0, 3, True),
        ("offset", 2, 2, False),
        ("offset", 2, 3, True),
        ("offset", 2, 1, True),
        ("timestamp", 4, 4, False),
        ("end", 3, 5, False),
        ("end", 3, 2, True),
        ("", 2, 4, False),
    ],
)
def test_what_is_read_after_a_seek(to: str, offset: int, reads: int, is_wrong: bool) -> None:
    entries = [owns(A), *read(A, 0, 1, 2), sought(to, offset), *read(A, reads)]
    assert [each.invariant for each in sought_elsewhere(outcome(*entries))] == ["sought-elsewhere"] * is_wrong


def test_a_member_that_loses_the_partition_is_not_where_it_was_sent() -> None:
    entries = [owns(A), sought("offset", 2), owns(A, gains=False), owns(A), *read(A, 0)]
    assert not [*sought_elsewhere(outcome(*entries))]


@pytest.mark.parametrize(
    ("at_ms", "offset", "is_wrong"), [(101, 2, False), (101, 3, True), (200, None, False)]
)
def test_what_a_client_says_of_times(at_ms: int, offset: int | None, is_wrong: bool) -> None:
    asked = {"partitions": [[*PLACE, at_ms]]}
    called = Called(
        **A, verb="offsets-for-times", began=0, fields=asked, answer={"offsets": [[*PLACE, offset]]}
    )
    assert bool([*offsets_by_time(outcome(called))]) == is_wrong


@pytest.mark.parametrize(
    ("moves", "begins", "invariants"),
    [
        ([], 1, ["read-again"]),
        ([sought("offset", 0), *read(A, 0), commits(A, 1)], 1, []),
        ([sought("offset", 0), *read(A, 0), commits(A, 1)], 0, ["reset-without-loss"]),
        ([sought("offset", 0), *read(A, 0)], 4, []),
        ([], 5, ["skipped"]),
        ([sought("end", 4)], 5, []),
    ],
)
def test_where_the_next_member_begins(moves: list[Entry], begins: int, invariants: list[str]) -> None:
    entries = [owns(A), *read(A, 0, 1, 2, 3), commits(A, 4), *moves]
    entries += [owns(A, gains=False), owns(B), *read(B, begins)]
    assert [each.invariant for each in begins_elsewhere(outcome(*entries))] == invariants


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ({}, []),
        ({"key": None}, ["key"]),
        ({"value": b"3:plain:more"}, ["value"]),
        ({"headers": (("h", b""),)}, ["headers"]),
    ],
)
def test_records_that_are_not_as_they_were_sent(changed: dict[str, Any], cause: list[str]) -> None:
    whole: dict[str, Any] = {"key": b"k", "value": b"3:plain:", "headers": (("h", b"x"),), **changed}
    sent = Sent(**A, number=3, topic="topic", partition=0, what="plain", **whole)
    got = Read(**B, topic="topic", partition=0, offset=3, **whole)
    assert [each.cause for each in altered(outcome(sent))] == cause
    assert [each.cause for each in altered(outcome(got))] == cause
