"""Who has fenced whom, by the order in which brokers gave producer ids, whenever producers were opened."""

from typing import Any

import pytest

from mockbroker.clients.hunt.journal import Called, Ended, Entry, Initialized, Journal, Opened, Sent
from mockbroker.clients.hunt.judging.fencing import producers
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser
from mockbroker.clients.hunt.stage import Outcome

CONFIG = {"transactional.id": "t"}


def of(user: str) -> dict[str, Any]:
    return {"user": user, "handle": f"{user}-1"}


def opened(user: str) -> list[Entry]:
    return [Opened(**of(user), config=CONFIG), Called(**of(user), verb="open", began=0)]


def given(user: str, *, fault: bool = False) -> list[Entry]:
    return [Initialized(user=user, fault=fault)]


def commits(user: str, *, lazily: bool = False) -> list[Entry]:
    record = Sent(**of(user), number=1, topic="t", partition=0, value=b"", what="plain", transaction=1)
    begun: list[Entry] = [Called(**of(user), verb="begin", began=0)]
    ended = Ended(**of(user), transaction=1, commits=True, error=None)
    return [*begun, *(given(user) if lazily else []), record, ended]


BOTH = [*opened("a"), *opened("b")]


@pytest.mark.parametrize(
    ("entries", "is_told"),
    [
        ([*BOTH, *given("a"), *given("b"), *commits("a")], False),
        ([*BOTH, *given("b"), *given("a"), *commits("a")], True),
        ([*BOTH, *given("b"), *commits("a", lazily=True)], True),
        ([*BOTH, *given("a"), *given("b"), *given("a"), *commits("a")], True),
        ([*BOTH, *given("a"), *given("b", fault=True), *commits("a")], True),
    ],
)
def test_the_last_one_that_got_a_producer_id_has_fenced_the_others(
    entries: list[Entry], is_told: bool
) -> None:
    users = tuple(PlannedUser(name, "transactions", CONFIG) for name in ("a", "b"))
    outcome = Outcome(Plan(1, "4.4", 1, (PlannedTopic("t", 1),), users), Journal(), client="kafkajs 2.2.4")
    for each in entries:
        outcome.journal.add(each)
    assert [each.user for each in producers(outcome)] == ([] if is_told else ["a"])
