"""Members of confluent-kafka, aiokafka and kafka-python join and leave one group while its coordinator moves;
and what their judge finds. `python -m tests.clients.churn` does it with more members, and for longer."""

from __future__ import annotations

import threading

import pytest

from mockbroker import ReleaseName

from .churn.driver import Plan, partitions_of, run
from .churn.journal import Accepted, Asked, Assigned, Committed, Committing, Event, Journal, Read, Shared
from .churn.judge import Judge

A_READS_TWO: list[Event] = [
    Assigned("a", frozenset({0})),
    Read("a", 0, 0, 7),
    Read("a", 0, 1, 8),
]
A_COMMITS_TWO: list[Event] = [*A_READS_TWO, Committing("a", {0: 2}), Committed("a", {0: 2})]
B_IS_ASSIGNED = Assigned("b", frozenset({0}))


@pytest.mark.parametrize("kafka", ["3.9", "4.4"])
def test_nothing_is_lost_and_no_commit_goes_back(kafka: ReleaseName) -> None:
    before = set(threading.enumerate())
    outcome = run(Plan(kafka, seed=1))
    assert outcome.violations == []
    assert outcome.written
    assert outcome.generations > 1
    assert outcome.did["coordinator moves"]
    after = {each for each in threading.enumerate() if not each.name.startswith("Trio thread")}
    assert after <= before  # but for trio's own, which it keeps for some seconds


def judged(*events: Event, written: int = 0) -> tuple[list[str], int]:
    judge = Judge(Journal([*events], {(0, offset): 7 + offset for offset in range(written)}))
    return judge.violations(), judge.again


def test_what_was_not_committed_may_be_read_again() -> None:
    again = Read("b", 0, 0, 7)
    assert judged(*A_READS_TWO, B_IS_ASSIGNED, again, written=2) == ([], 1)
    tried = Committing("a", {0: 2})
    assert judged(*A_READS_TWO, tried, B_IS_ASSIGNED, again) == ([], 1)
    late: list[Event] = [B_IS_ASSIGNED, Committed("a", {0: 2})]
    assert judged(*A_READS_TWO, tried, *late, again) == ([], 1)


def begins_at(member: str, offset: int, *, refused: bool | None) -> list[Event]:
    asked = [] if refused is None else [Asked(member, frozenset({0}), refused)]
    return [Assigned(member, frozenset({0})), *asked, Read(member, 0, offset, 7 + offset)]


AIO, NEXT = "a-aiokafka", "b-kafka-python"
AIO_GOES_BACK: list[Event] = [
    *A_COMMITS_TWO,
    *begins_at(AIO, 0, refused=True),
    Committing(AIO, {0: 1}),
    Committed(AIO, {0: 1}),
]
NEXT_CATCHES_UP: list[Event] = [
    *AIO_GOES_BACK,
    *begins_at(NEXT, 1, refused=False),
    Committing(NEXT, {0: 2}),
    Committed(NEXT, {0: 2}),
]
NEXT_READS_ONE = begins_at(NEXT, 0, refused=False)


def test_a_refused_offset_fetch_explains_what_aiokafka_does() -> None:
    judge = Judge(Journal(NEXT_CATCHES_UP))
    assert judge.violations() == []
    assert judge.refused == 2


def test_kafka_python_keeps_its_position() -> None:
    judge = Judge(Journal([*NEXT_READS_ONE, *begins_at(NEXT, 1, refused=None)]))
    assert judge.violations() == []
    assert judge.kept == 1


@pytest.mark.parametrize(
    ("events", "complaint"),
    [
        ([*A_COMMITS_TWO, *begins_at(AIO, 0, refused=False)], "began at (0, 0), where 2 was"),
        ([*A_COMMITS_TWO, *begins_at(AIO, 1, refused=True)], "began at (0, 1), where 2 was"),
        ([*A_COMMITS_TWO, *begins_at(NEXT, 0, refused=True)], "began at (0, 0), where 2 was"),
        ([*NEXT_CATCHES_UP, *begins_at(NEXT, 1, refused=False)], "began at (0, 1), where 2 was"),
        ([*NEXT_READS_ONE, *begins_at(NEXT, 1, refused=False)], "began at (0, 1), which no"),
        (
            [*NEXT_READS_ONE, B_IS_ASSIGNED, *begins_at(NEXT, 1, refused=None)],
            "began at (0, 1), which no",
        ),
    ],
)
def test_nothing_else_is_explained(events: list[Event], complaint: str) -> None:
    (violation,) = Judge(Journal(events)).violations()
    assert complaint in violation


@pytest.mark.parametrize(
    ("events", "written", "complaint"),
    [
        (A_READS_TWO, 3, "(0, 2) was acknowledged, and nobody read it"),
        ([*A_COMMITS_TWO, B_IS_ASSIGNED, Read("b", 0, 1, 8)], 2, "b began at (0, 1), where 2 was committed"),
        ([*A_READS_TWO, B_IS_ASSIGNED, Read("b", 0, 2, 9)], 3, "b began at (0, 2), which nobody committed"),
        ([*A_READS_TWO, Read("a", 0, 3, 10)], 2, "a read (0, 3) where 2 was next"),
        ([*A_READS_TWO, Read("a", 0, 1, 8)], 2, "a read (0, 1) where 2 was next"),
        ([*A_READS_TWO, Read("b", 0, 0, 7)], 2, "b read (0, 0), and was never assigned"),
        ([A_READS_TWO[0], Read("a", 0, 0, 5)], 1, "(0, 0) is 7, and a read 5"),
        (
            [Shared(3, "a", frozenset({0, 1})), Shared(3, "b", frozenset({1}))],
            0,
            "a and b both have partition 1 in generation 3",
        ),
        (
            [Accepted(3, "a", {1: 9}), Shared(3, "b", frozenset({1}))],
            0,
            "a committed 9 of partition 1 in generation 3, where b has it",
        ),
    ],
)
def test_the_judge_finds(events: list[Event], written: int, complaint: str) -> None:
    (violation,), _ = judged(*events, written=written)
    assert violation.startswith(complaint)


def test_partitions_of_an_assignment() -> None:
    one_topic = b"\0\0" + b"\0\0\0\1" + b"\0\6orders"
    assert partitions_of(one_topic + b"\0\0\0\2\0\0\0\1\0\0\1\0" + b"\0\0\0\0") == {1, 256}
    assert partitions_of(b"\0\0" + b"\0\0\0\0" + b"\xff\xff\xff\xff") == set()
    assert partitions_of(b"") == set()
