"""Which errors are a client's fault: not those of a producer at its end, nor those that it has to tell."""

from typing import Any

import pytest

from mockbroker.clients.drivers import Refusal
from mockbroker.clients.drivers.documentation import Act
from mockbroker.clients.hunt.journal import Called, Entry, Happened, Heeded, Journal, Opened, Refused
from mockbroker.clients.hunt.judging.needless import needless
from mockbroker.clients.hunt.judging.recovery import abort_failed, begin_failed
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser, Step
from mockbroker.clients.hunt.stage import Outcome

T: dict[str, Any] = {"user": "t", "handle": "t-1"}
STATE = Refusal("KafkaError", "Invalid transition attempted from state READY to state ABORTING_TRANSACTION")
FENCED = Refusal("ProducerFencedError", "")
LATE = Refusal("TimeoutException", "")
OPENED = Opened(**T, config={"transactional.id": "t"})
LOST = Step("fault", 0, {"do": "disconnect", "api": "EndTxn", "times": 1})


def called(verb: str, error: Refusal | None = None, took_ms: int = 5) -> Called:
    return Called(**T, verb=verb, began=0, error=error, took_ms=took_ms)


BARRED = Happened(what="set-password", do="set-password")


def refused(*errors: str, lost: bool = False) -> Refused:
    return Refused(user="t", api="EndTxn", errors=errors, lost=lost, fault=True)


def outcome(entries: list[Entry], *steps: Step) -> Outcome:
    user = PlannedUser("t", "transactions", {"transactional.id": "t"})
    made = Outcome(Plan(1, "4.4", 1, (PlannedTopic("t", 1),), (user,), steps), Journal(), client="aiokafka 1")
    for entry in (OPENED, *entries):
        made.journal.add(entry)
    made.repaired = made.journal.last + 1
    return made


@pytest.mark.parametrize(
    ("entries", "fails"),
    [
        ([called("abort-transaction", STATE)], True),
        ([refused("INVALID_PRODUCER_EPOCH"), called("abort-transaction", STATE)], True),
        ([refused("INVALID_PRODUCER_EPOCH"), called("abort-transaction", FENCED)], False),
        ([refused("PRODUCER_FENCED"), called("begin", FENCED), called("abort-transaction", STATE)], False),
        ([called("abort-transaction", FENCED)], True),
        ([called("abort-transaction", LATE, 10_000)], False),
        ([BARRED, called("abort-transaction", STATE)], False),
        (
            [
                called("abort-transaction", LATE),
                Heeded(**T, verb="abort-transaction", error=LATE, act=Act.RETRY, says=""),
                called("abort-transaction"),
            ],
            False,
        ),
    ],
)
def test_an_abort_that_fails(entries: list[Entry], fails: bool) -> None:
    assert bool([*abort_failed(outcome(entries))]) == fails


@pytest.mark.parametrize("went_on", [False, True])
def test_a_transaction_that_can_not_begin(went_on: bool) -> None:
    end: list[Entry] = [called("commit-transaction", STATE if went_on else None)]
    if went_on:
        end.append(Heeded(**T, verb="commit-transaction", error=STATE, act=Act.GO_ON, says=""))
    found = list(begin_failed(outcome([*end, called("begin", STATE)])))
    assert [each.invariant for each in found] == ["begin-failed"]


@pytest.mark.parametrize(
    ("entries", "steps", "needed"),
    [
        (
            [refused(lost=True), called("commit-transaction", STATE), called("commit-transaction")],
            [LOST],
            False,
        ),
        ([refused("NOT_COORDINATOR"), called("begin", STATE), called("begin")], [LOST], False),
        ([refused("INVALID_TXN_STATE"), called("begin", STATE), called("begin")], [LOST], True),
        ([called("begin", LATE, 9_000), called("begin")], [LOST], True),
        ([called("begin", STATE)], [LOST], True),
        ([called("begin", STATE), called("begin")], [Step("stop-broker", 0, {"broker": 1})], True),
        ([BARRED, called("begin", STATE), called("begin")], [], True),
        ([called("begin", STATE), called("begin")], [], False),
    ],
)
def test_an_error_that_nobody_needed(entries: list[Entry], steps: list[Step], needed: bool) -> None:
    assert [each.invariant for each in needless(outcome(entries, *steps))] == ([] if needed else ["needless"])
