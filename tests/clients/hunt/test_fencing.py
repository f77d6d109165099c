"""Who has fenced whom: what counts is what brokers were told, not when or how clients were opened."""

from typing import Any

import pytest

from mockbroker.clients.drivers import Refusal
from mockbroker.clients.hunt.journal import (
    Called,
    Ended,
    Entry,
    Failed,
    Initialized,
    Journal,
    Opened,
    Owns,
    Sent,
)
from mockbroker.clients.hunt.judging.fencing import members, producers
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


@pytest.mark.parametrize("config", [{"group.instance.id": "i"}, {}])
def test_a_member_whose_driver_takes_no_instance_id_can_not_be_fenced(config: dict[str, str]) -> None:
    outcome = Outcome(Plan(1, "4.4", 1, (PlannedTopic("t", 1),), ()), Journal())
    now = 0
    outcome.journal.clock = lambda: now
    for user in ("a", "b"):
        outcome.journal.add(Opened(**of(user), config=config))
    outcome.journal.add(Owns(**of("b"), gains=True, partitions=(("t", 0),)))
    now = 60_000
    outcome.journal.add(Called(**of("b"), verb="poll", began=0))
    assert [each.user for each in members(outcome)] == (["a"] if config else [])


def test_who_was_refused_since_another_has_the_id_is_no_member_that_is_fenced() -> None:
    """The other one may leave and come back meanwhile."""
    outcome = Outcome(Plan(1, "4.4", 1, (PlannedTopic("t", 1),), ()), Journal())
    now = 0
    outcome.journal.clock = lambda: now
    for user in ("a", "b"):
        outcome.journal.add(Opened(**of(user), config={"group.instance.id": "i"}))
    refused = Refusal("UnreleasedInstanceIdException", "the instance id is owned by another member")
    outcome.journal.add(Failed(**of("a"), error=refused, by="poll"))
    outcome.journal.add(Owns(**of("b"), gains=True, partitions=(("t", 0),)))
    now = 60_000
    outcome.journal.add(Called(**of("b"), verb="poll", began=0))
    assert list(members(outcome)) == []
