"""What share groups did not get, or gave up, by what share coordinators wrote."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.ledgers.reading import LEDGERS

from .folding import MINUTE, Rows, noted, told

LEDGER = LEDGERS["states of share groups"]
STATES = "__share_group_state-0/00000000000000000000.log"


class States(Rows):
    """What one log tells of a group in a partition: at first that it has no state yet."""

    def __init__(self, file: str = STATES) -> None:
        super().__init__(file, "segment", topic="orders", partition=0, group="jobs")
        self.whole(None)

    def whole(self, start: int | None, *states: str) -> States:
        self.add("share-state", offset=start, detail=", ".join(["whole", *states]))
        return self

    def then(self, start: int | None, *states: str) -> States:
        self.add("share-state", offset=start, detail=", ".join(states) or None)
        return self

    def deleted(self) -> States:
        self.add("share-state", detail="deleted")
        return self


class Partition(Rows):
    def __init__(self) -> None:
        super().__init__("server.log", topic="orders", partition=0)

    def begins(self, offset: int, **when: Any) -> Partition:
        self.add("log-start", offset=offset, **when)
        return self

    def written(self, first: int, end: int, detail: str | None = None) -> Partition:
        self.add("append", source="segment", offset=first, end_offset=end, detail=detail)
        return self

    def allows(self, detail: str, **when: Any) -> Partition:
        self.add("config", group="jobs", detail=detail, **when)
        return self

    def warns(self, offset: int) -> Partition:
        self.add("share-warning", offset=offset, group="jobs")
        return self


def test_what_is_done_in_order() -> None:
    done = (
        States().then(0, "0-9 acknowledged 1").then(10, "10-19 acknowledged 1").then(20, "20-29 archived 1")
    )
    assert told(LEDGER, done, Partition().begins(30)) == []


def test_records_that_were_deleted_before_they_were_got() -> None:
    states = States().then(0, "0-299 acknowledged 1").then(900, "900-999 acknowledged 1")
    assert told(LEDGER, states, Partition().begins(900)) == [("share-deleted", 300, 900)]
    (gone,) = noted(LEDGER, states, Partition().begins(900, detail="segment deletion"))
    assert gone.detail == "segment deletion"
    later = Partition().begins(900, after_ms=MINUTE)
    assert told(LEDGER, states, later) == []


def test_records_of_aborted_transactions_that_are_deleted() -> None:
    states = States().then(0, "0-9 acknowledged 1").then(40, "40-49 acknowledged 1")
    partition = Partition().written(10, 30, "transactional").begins(40)
    assert told(LEDGER, partition, states) == [("share-deleted", 30, 40)]


def test_records_that_were_deleted_and_others_that_were_not() -> None:
    states = States().then(0, "0-9 acknowledged 1").then(40, "40-49 acknowledged 1")
    partition = Partition().begins(30).written(30, 50)
    assert told(LEDGER, partition, states) == [("share-deleted", 10, 30), ("share-passed", 30, 40)]


def test_nobody_knows_what_was_there() -> None:
    states = States().then(0, "0-9 acknowledged 1").then(40, "40-49 acknowledged 1")
    assert told(LEDGER, states) == []
    assert told(LEDGER, states, Partition().written(10, 40, "transactional")) == []
    compacted = Partition().written(10, 40)
    compacted.add("log", detail="compacted")
    assert told(LEDGER, states, compacted) == []


def test_records_that_nobody_acknowledged() -> None:
    states = States().then(0, "0-9 available 1").then(12, "12-19 acknowledged 1")
    assert told(LEDGER, states, Partition().written(0, 20)) == [("share-passed", 0, 12)]


def test_somebody_sets_the_offset_past_what_was_let_go() -> None:
    states = States().then(0, "0-9 available 1").whole(20)
    assert told(LEDGER, states) == [("share-skipped", 10, 20), ("share-passed", 0, 10)]


def test_records_that_are_given_up() -> None:
    let_go = [f"4-4 available {nth}" for nth in range(1, 5)]
    states = States().then(0, "0-3 acknowledged 1, 5-9 acknowledged 1")
    for each in let_go:
        states.then(4, each)
    assert told(LEDGER, states.then(4, "4-4 archived 5")) == [("share-worn", 4, 5)]


def test_records_that_their_leader_gave_for_the_last_time() -> None:
    states = States().then(0, "4-4 available 1").then(0, "4-4 archived 2")
    assert told(LEDGER, states) == []
    assert told(LEDGER, states, Partition().warns(5)) == []
    (gone,) = noted(LEDGER, states, Partition().warns(4))
    assert (gone.what, gone.offset, gone.detail) == ("share-worn", 4, "2 or rejected in the end")
    assert ("server.log", 1, "share-warning") in gone.rows


def test_how_often_a_record_is_given_is_set_of_a_group() -> None:
    two, ten = (f"share.isolation.level = read_committed, share.delivery.count.limit = {n}" for n in (2, 10))
    twice = States().then(0, "4-4 available 1").then(0, "4-4 archived 2")
    assert told(LEDGER, twice, Partition().allows(two)) == [("share-worn", 4, 5)]
    assert told(LEDGER, twice, Partition().allows(two, after_ms=MINUTE)) == []
    assert told(LEDGER, twice, Partition().allows(two).allows("none")) == []
    often = States().then(0, "4-4 available 4").then(0, "4-4 archived 5")
    assert told(LEDGER, often, Partition().allows(ten)) == []


def test_a_state_that_is_written_anew_is_told_once() -> None:
    states = States().then(0, "4-4 archived 5").whole(0, "4-4 archived 5", "5-9 acknowledged 1")
    assert told(LEDGER, states) == [("share-worn", 4, 5)]
    same = States().then(0, "0-9 acknowledged 1").then(10).whole(10)
    assert told(LEDGER, same) == []


@pytest.mark.parametrize(
    ("offset", "expected"), [(0, ("share-set-back", 0, 300)), (1000, ("share-skipped", 300, 1000))]
)
def test_somebody_sets_the_offset(offset: int, expected: tuple[str, int, int]) -> None:
    states = States().then(0, "0-299 acknowledged 1").whole(offset)
    assert told(LEDGER, states.then(offset, f"{offset}-1099 acknowledged 1")) == [expected]


def test_what_somebody_set_past_was_deleted() -> None:
    states = States().then(0, "0-299 acknowledged 1").whole(900)
    assert told(LEDGER, Partition().begins(900), states) == [("share-deleted", 300, 900)]


def test_a_group_that_begins_anew() -> None:
    states = States().then(0, "0-9 acknowledged 1").deleted().whole(None).then(40, "40-49 acknowledged 1")
    assert told(LEDGER, states, Partition().written(0, 50)) == []


def test_a_log_that_begins_in_the_middle() -> None:
    states = States("__share_group_state-0/00000000000000000900.log")
    del states.rows[0]
    states.then(20, "20-29 acknowledged 1").then(40, "40-49 acknowledged 1").whole(50, "50-59 acknowledged 1")
    partition = Partition().written(0, 200)
    assert told(LEDGER, states, partition) == []
    states.then(60, "60-69 acknowledged 1").then(80, "80-89 acknowledged 1")
    assert told(LEDGER, states, partition) == [("share-passed", 70, 80)]


def test_a_clock_that_is_set_back_tells_no_order() -> None:
    states = States().then(0, "0-9 acknowledged 1").then(10, "20-29 acknowledged 1").then(30)
    late = states.rows[2]
    states.rows[2] = late._replace(time_ms=late.at_ms + 5_000)
    assert told(LEDGER, states, Partition().written(0, 50)) == []


def test_each_replica_is_a_log_of_its_own() -> None:
    logs = [States(f"{broker}/{STATES}") for broker in (1, 2)]
    for each in logs:
        each.then(0, "0-299 acknowledged 1").then(900, "900-999 acknowledged 1")
    assert set(told(LEDGER, *logs, Partition().begins(900))) == {("share-deleted", 300, 900)}
