"""What a client tells of calls that are made at once, and of what its brokers refuse, case by case."""

from typing import Any

import pytest

from mockbroker.clients.drivers import Refusal
from mockbroker.clients.hunt.harm import cause_of
from mockbroker.clients.hunt.journal import (
    Called,
    Committed,
    Ended,
    Entry,
    Happened,
    Journal,
    Opened,
    Owns,
    Refused,
    Sent,
    Told,
)
from mockbroker.clients.hunt.judging.at_once import begun_twice, ended_in_two_ways
from mockbroker.clients.hunt.judging.offsets import uncommitted
from mockbroker.clients.hunt.judging.provoked import provoked
from mockbroker.clients.hunt.judging.undone import undone
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser
from mockbroker.clients.hunt.stage import Outcome

T: dict[str, Any] = {"user": "t", "handle": "t-1"}
STATE = Refusal("KafkaError", "INVALID_TXN_STATE")
TOO_LARGE = Refusal("KafkaError", "MESSAGE_TOO_LARGE", code=10)
PLACE = ("topic", 0)


def outcome(*entries: Entry, ids: tuple[str, ...] = ("t",)) -> Outcome:
    users = tuple(
        PlannedUser(id_ * n, "transactions", {"transactional.id": id_}) for n, id_ in enumerate(ids, 1)
    )
    made = Outcome(Plan(1, "4.4", 1, (PlannedTopic("topic", 1),), users), Journal())
    for entry in (Opened(**T, config={}), *entries):
        made.journal.add(entry)
    return made


def called(verb: str, error: Refusal | None = None, *, meanwhile: bool = False, **fields: Any) -> Called:
    return Called(**T, verb=verb, began=0, error=error, meanwhile=meanwhile, fields=fields)


def refused(error: str, *, fault: bool = False) -> Refused:
    return Refused(user="t", api="EndTxn", errors=(error,), lost=False, fault=fault)


@pytest.mark.parametrize(
    ("entries", "ids", "is_provoked"),
    [
        ([refused("INVALID_TXN_STATE"), called("commit-transaction", STATE)], ("t",), True),
        ([refused("INVALID_TXN_STATE"), called("commit-transaction", STATE)], ("t", "t"), False),
        ([refused("INVALID_TXN_STATE", fault=True), called("commit-transaction", STATE)], ("t",), False),
        ([refused("INVALID_TXN_STATE"), called("commit-transaction", TOO_LARGE)], ("t",), False),
        ([refused("INVALID_TXN_STATE"), called("commit-transaction")], ("t",), False),
        ([refused("INVALID_TXN_STATE"), called("commit-transaction", STATE, meanwhile=True)], ("t",), False),
        (
            [Happened(what="stop-broker"), refused("INVALID_TXN_STATE"), called("begin", STATE)],
            ("t",),
            False,
        ),
    ],
)
def test_what_a_client_asks_for_wrongly(
    entries: list[Entry], ids: tuple[str, ...], is_provoked: bool
) -> None:
    judged = outcome(*entries, ids=ids)
    assert [cause_of(each, judged) for each in provoked(judged)] == ["EndTxn-INVALID_TXN_STATE"] * is_provoked


@pytest.mark.parametrize("is_closed", [False, True])
def test_a_record_of_a_producer_that_was_closed_is_fenced_by_the_next_one(is_closed: bool) -> None:
    fenced = Refusal("KafkaError", "INVALID_PRODUCER_EPOCH")
    record = Sent(**T, number=1, topic="topic", partition=0, value=b"1", what="plain")
    again = [Opened(user="t", handle="t-2", config={})] * is_closed
    told = Told(user="t", number=1, offset=None, error=fenced)
    judged = outcome(record, *again, refused("INVALID_PRODUCER_EPOCH"), told)
    assert [each.invariant for each in provoked(judged)] == ["provoked"] * (not is_closed)


@pytest.mark.parametrize(
    ("ever", "by_position", "loses", "is_committed"),
    [
        ({3}, False, False, True),
        ({2, 4}, False, False, False),
        ({4}, True, False, True),
        (set[int](), True, False, False),
        (set[int](), True, True, True),
    ],
)
def test_what_a_group_was_told_is_committed(
    ever: set[int], by_position: bool, loses: bool, is_committed: bool
) -> None:
    commits = Committed(**T, group="g", offsets={PLACE: 3}, began=0, error=None, by_position=by_position)
    entries: list[Entry] = [Owns(**T, gains=False, partitions=(PLACE,))] * loses
    judged = outcome(*entries, commits)
    judged.ever_committed = {("g", PLACE): ever}
    assert bool([*uncommitted(judged)]) != is_committed


def test_two_calls_that_both_begin() -> None:
    begins = [called("begin", meanwhile=True) for _ in range(2)]
    assert [each.invariant for each in begun_twice(outcome(*begins))] == ["begun-twice"]
    assert not [
        *begun_twice(outcome(called("begin", meanwhile=True), called("begin", STATE, meanwhile=True)))
    ]
    assert not [
        *begun_twice(outcome(begins[0], called("abort-transaction"), called("begin", meanwhile=True)))
    ]


@pytest.mark.parametrize("error", [None, STATE])
def test_a_transaction_that_ends_in_two_ways(error: Refusal | None) -> None:
    ends = [Ended(**T, transaction=1, commits=True, error=None)]
    ends.append(Ended(**T, transaction=1, commits=False, error=error))
    assert len([*ended_in_two_ways(outcome(*ends))]) == (error is None)


@pytest.mark.parametrize("has", [2, 3])
def test_partitions_that_were_not_added(has: int) -> None:
    judged = outcome(called("create-partitions", topic="topic", partitions=3))
    judged.partitions = {"topic": has}
    assert bool([*undone(judged)]) == (has < 3)
