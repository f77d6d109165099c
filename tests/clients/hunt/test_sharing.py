"""What members of share groups are told is judged by what brokers answered."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from mockbroker.clients.drivers import Refusal
from mockbroker.clients.hunt.drawing import SHARES, draw
from mockbroker.clients.hunt.journal import (
    Acknowledged,
    Called,
    Delivered,
    Entry,
    Granted,
    Journal,
    Said,
    Settled,
)
from mockbroker.clients.hunt.judging import sharing
from mockbroker.clients.hunt.legal import SHARE_FAULTS
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser
from mockbroker.clients.hunt.stage import TIMERS, InLog, Outcome
from mockbroker.faults import parse

CAPABILITIES = ("groups", "assign", "idempotence", "share", "renew")
ACCEPT, RELEASE, RENEW = 1, 2, 4
T: dict[str, Any] = {"topic": "t", "partition": 0}


def outcome(*entries: Entry, mode: str = "explicit") -> Outcome:
    """A run in which `a` is a member of a share group."""
    fields = {"shares": ["t"], "group": "g", "consumer": {"share.acknowledgement.mode": mode}}
    users = tuple(PlannedUser(name, "share-member", fields=fields) for name in ("a", "b"))
    found = Outcome(Plan(1, "4.4", 1, (PlannedTopic("t", 1),), users), Journal())
    found.logs["t", 0] = [InLog(0, b"", True)]
    for each in entries:
        each.user = each.handle.partition("-")[0]
        found.journal.add(each)
    return found


def granted(handle: str = "a-1", count: int = 1) -> Entry:
    return Granted(handle=handle, **T, first=0, last=0, count=count)


def delivered(handle: str = "a-1", count: int = 1) -> Entry:
    return Delivered(handle=handle, **T, offset=0, value=b"", count=count)


def said(what: str = "accept", handle: str = "a-1") -> Entry:
    return Said(handle=handle, **T, offset=0, what=what)


def settled(type_: int = ACCEPT, handle: str = "a-1", error: str = "") -> Entry:
    types = (type_,)
    return Settled(handle=handle, api="ShareAcknowledge", **T, first=0, last=0, types=types, error=error)


def told(handle: str = "a-1", by: str = "callback", error: str = "") -> Entry:
    refusal = Refusal(error, "") if error else None
    return Acknowledged(handle=handle, by=by, **T, offsets=(0,), error=refusal)


def judged(found: Outcome) -> Iterator[str]:
    for judge in (
        sharing.given,
        sharing.done_again,
        sharing.said_otherwise,
        sharing.told_otherwise,
        sharing.undelivered,
        sharing.untold,
        sharing.stuck,
    ):
        yield from (each.invariant for each in judge(found))


def again(handle: str) -> tuple[Any, ...]:
    """A record is delivered for the second time, to another client."""
    return (
        partial(granted, handle, 2),
        partial(delivered, handle, 2),
        partial(said, handle=handle),
        partial(settled, handle=handle),
        partial(told, handle),
    )


ONCE = (granted, delivered, said, settled, told)


@pytest.mark.parametrize(
    "entries",
    [
        [*ONCE],
        # Its first answer is lost: it is told so, and its second try counts.
        [granted, delivered, said, lambda: settled(error="lost"), lambda: told(error="Disconnect"), *ONCE],
        # What is renewed is returned again, and is no other delivery.
        [granted, delivered, lambda: said("renew"), lambda: settled(RENEW), told, *ONCE[1:]],
        # The answer comes when the member has another client.
        [granted, delivered, said, lambda: told(error="Timeout"), settled, *again("a-2")],
        # Its lock had ended, and it has acquired the record again when its first word of it comes.
        [granted, delivered, lambda: granted(count=2), said, settled, told, lambda: delivered(count=2)],
        # A client may let go what its user has not seen.
        [granted, lambda: settled(RELEASE), *again("b-1")],
    ],
    ids=["once", "an answer is lost", "renewed", "late", "locks ended", "let go"],
)
def test_what_is_right(entries: list[Any]) -> None:
    assert list(judged(outcome(*(each() for each in entries)))) == []


@pytest.mark.parametrize(
    ("entries", "invariant"),
    [
        ([*ONCE, lambda: granted("b-1", 2)], "accepted-again"),
        ([granted, delivered, lambda: said("reject"), settled, told], "acknowledged-unsaid"),
        ([granted, delivered, settled, told], "acknowledged-unsaid"),
        ([granted, lambda: delivered(count=2), said, settled, told], "delivery-count"),
        ([granted, delivered, delivered, said, settled, told], "not-acquired"),
        ([lambda: granted("b-1"), delivered, said, settled, told], "not-acquired"),
        ([granted, delivered, said, lambda: settled(error="INVALID_RECORD_STATE"), told], "told-two-things"),
        ([*ONCE, lambda: told(by="commit", error="INVALID_RECORD_STATE")], "told-two-things"),
        ([granted, delivered, said, settled], "untold"),
        ([granted, settled], "undelivered"),
    ],
)
def test_what_is_wrong(entries: list[Any], invariant: str) -> None:
    assert invariant in set(judged(outcome(*(each() for each in entries))))


def test_without_a_word_a_record_counts_as_accepted_only_in_implicit_mode() -> None:
    entries = [granted(), delivered(), settled(), told(), granted("b-1", 2)]
    assert list(judged(outcome(*entries, mode="implicit"))) == ["accepted-again"]


@pytest.mark.parametrize(("less_ms", "expected"), [(1, ["untold"]), (0, [])])
def test_a_client_may_give_up_when_it_is_closed(less_ms: int, expected: list[str]) -> None:
    closed = Called(handle="a-1", verb="close", began=0)
    closed.took_ms = TIMERS["request.timeout.ms"] - less_ms
    entries = [granted(), delivered(), said(), settled(error="COORDINATOR_NOT_AVAILABLE"), closed]
    assert list(judged(outcome(*entries))) == expected


def test_a_group_that_is_not_done_is_stuck() -> None:
    found = outcome()
    found.unsettled["g"] = ["t-0 offsets 0 to 0 (acquired)"]
    (violation,) = sharing.stuck(found)
    assert str(violation) == "stuck: g: has not processed t-0 offsets 0 to 0 (acquired)"


def test_what_happens_to_members_of_share_groups_may_happen() -> None:
    plans = [draw(seed, CAPABILITIES, workload=SHARES) for seed in range(400)]
    assert plans == [draw(seed, CAPABILITIES, workload=SHARES) for seed in range(400)]
    steps = [step for plan in plans for step in plan.steps]
    faults = [dict(step.fields) for step in steps if step.do == "fault"]
    assert {parse(each).illegal for each in faults} == {""}
    assert {str(each.get("api")) for each in faults} > set(SHARE_FAULTS)
    assert {"expire-locks", "drop-share-sessions", "move-coordinator"} <= {step.do for step in steps}
    assert {"expire-locks", "drop-share-sessions", "evict-member"} <= {each["do"] for each in faults}
    assert all(Plan.from_json(each.to_json()) == each for each in plans)


def test_no_other_seed_draws_members_of_share_groups() -> None:
    without = [each for each in CAPABILITIES if each not in ("share", "renew")]
    assert all(draw(seed, CAPABILITIES) == draw(seed, without) for seed in range(100))
    says = {word for seed in range(100) for word in _said(seed, without)}
    assert says == {"accept", "release", "reject"}


def _said(seed: int, capabilities: list[str]) -> set[str]:
    plan = draw(seed, capabilities, workload=SHARES)
    return {word for user in plan.users for word in user.fields.get("says", ())}
