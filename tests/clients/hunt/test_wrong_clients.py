"""`mockbroker hunt` finds each client that is wrong on purpose, and nothing wrong with the right one."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trio

from mockbroker.clients.drivers.shipped import PROGRAMS
from mockbroker.clients.hunt.campaign import Result, campaign
from mockbroker.clients.hunt.drawing import SHARES, draw
from mockbroker.clients.hunt.plan import Plan, PlannedUser, Step
from mockbroker.clients.hunt.stage import Patience

from ...properties import examples
from ...turns import in_turn

pytestmark = pytest.mark.long
IMPATIENT = Patience(settle_s=4, told_s=4, call_ms=2_000, grace_s=1)
SOON = {"metadata.max.age.ms": 500}
SEEDS = range(1, 1 + examples(8))
MOST_SEEDS = range(1, 121)
"""How soon a wrong client shows what is wrong with it depends on how busy the machine is."""


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCKBROKER_PROGRAMS", str(PROGRAMS / "python"))


def command(wrong: str) -> Sequence[str]:
    return (sys.executable, str(Path(__file__).with_name("wrong.py")), wrong)


def shares_id(plan: Plan) -> Plan:
    """All its producers have the same transactional id."""

    def shares(user: PlannedUser) -> PlannedUser:
        id_ = {"transactional.id": "shared"} if "transactional.id" in user.config else {}
        return replace(user, config={**user.config, **id_})

    return replace(plan, users=tuple(map(shares, plan.users)))


def loses_answers(plan: Plan) -> Plan:
    lost = Step("fault", 0, {"do": "disconnect", "api": "Produce", "when": "before", "times": 1})
    flushes = tuple(replace(each, steps=(*each.steps, Step("flush"))) for each in plan.users)
    return replace(plan, users=flushes, steps=(lost,))


def without_defects(plan: Plan) -> Plan:
    """Leaves out what shows defects of librdkafka: refused records in transactions, which processors copy if
    they are large, and records of a producer that is fenced (found/librdkafka-sequence-after-an-abort,
    found/confluent-kafka-callback-after-fatal)."""
    copied = any(each.kind == "processor" for each in plan.users)

    def small(step: Step) -> Step:
        return replace(step, fields={name: each for name, each in step.fields.items() if name != "size"})

    def mended(user: PlannedUser) -> PlannedUser:
        own = {"transactional.id": user.name} if "transactional.id" in user.config else {}
        steps = tuple(
            replace(
                step, fields={**step.fields, "sends": [[*at, "plain"] for *at, _ in step.fields["sends"]]}
            )
            if "sends" in step.fields
            else step
            for step in user.steps
        )
        if copied:
            steps = tuple(map(small, steps))
        return replace(user, config={**user.config, **own}, steps=steps)

    return replace(plan, users=tuple(map(mended, plan.users)))


def consuming(plan: Plan, more: Mapping[str, Any], **fields: Any) -> Plan:
    """Its members have more settings, and other fields, and do nothing but poll."""
    polls = Step("poll", 100, {"times": 3})

    def changed(user: PlannedUser) -> PlannedUser:
        if user.kind != "member":
            return user
        consumer = {**user.fields["consumer"], **more}
        return replace(user, fields={**user.fields, **fields, "consumer": consumer}, steps=(polls,) * 3)

    return replace(plan, users=tuple(map(changed, plan.users)))


def widens(plan: Plan) -> Plan:
    on = {"user": "member-0", "call": "poll", "nth": 3}
    more = Step("add-partitions", 0, {"topic": plan.topics[0].name, "by": 1}, on)
    return replace(consuming(plan, SOON), steps=(more,))


def adds_a_topic(plan: Plan) -> Plan:
    on = {"user": "member-0", "call": "poll", "nth": 3}
    new = Step("add-topic", 0, {"topic": "topic-too", "partitions": 1}, on)
    return replace(consuming(plan, SOON, pattern="^topic.*"), steps=(new,))


def has_racks(plan: Plan) -> Plan:
    topics = tuple(replace(each, replicas=3) for each in plan.topics)
    return replace(consuming(plan, {**SOON, "client.rack": "rack-2"}), brokers=3, topics=topics, racks=True)


CHANGES: Mapping[str, Callable[[Plan], Plan]] = {
    "dawdles": loses_answers,
    "fenced-silently": shares_id,
    "forgets-its-rack": has_racks,
    "misses-partitions": widens,
    "misses-topics": adds_a_topic,
    "lacking": without_defects,
    "right": without_defects,
}


WRONG = (
    ("loses", "producer", "acknowledged-lost"),
    ("refuses", "producer", "refused-but-written"),
    ("repeats", "idempotent", "duplicated"),
    ("swaps", "idempotent", "out-of-order"),
    ("drops", "transactions", "committed-incomplete"),
    ("commits-always", "transactions", "aborted-visible"),
    ("reads-all", "transactions", "aborted-read"),
    ("forgets-offsets", "processor", "processed-again"),
    ("drops", "processor", "not-processed"),
    ("begins-again", "members", "reset-without-loss"),
    ("begins-at-the-end", "members", "skipped"),
    ("leaves-out", "members", "skipped"),
    ("goes-back", "members", "read-again"),
    ("stops-reading", "members", "stuck"),
    ("misses-partitions", "members", "stuck"),
    ("misses-topics", "members", "stuck"),
    ("forgets-its-rack", "members", "far"),
    ("hangs", "producer", "call-overdue"),
    ("spins", "producer", "call-spins"),
    ("dies", "producer", "died"),
    ("never-rests", "producer", "busy"),
    ("gives-up", "idempotent", "unusable"),
    ("never-tells", "producer", "untold"),
    ("fails-to-abort", "transactions", "abort-failed"),
    ("fails-to-begin", "transactions", "begin-failed"),
    ("fails-to-commit", "transactions", "commit-failed"),
    ("fails-needlessly", "transactions", "needless"),
    ("tells-twice", "producer", "told-two-things"),
    ("fenced-silently", "transactions", "fenced-untold"),
    ("reads-paused", "members", "paused-read"),
    ("forgets-headers", "producer", "altered"),
    ("forgets-keys", "members", "altered"),
    ("ignores-seeks", "members", "sought-elsewhere"),
    ("tells-late-times", "members", "told-otherwise"),
    ("begins-twice", "transactions", "begun-twice"),
    ("aborts-what-is-committed", "transactions", "told-two-things"),
    ("fences-itself", "transactions", "provoked"),
    ("commits-nothing", "members", "uncommitted"),
    ("forgets-offsets", "processor", "uncommitted"),
    ("adds-nothing", "admin", "undone"),
    ("deletes-nothing", "admin", "undone"),
    ("lists-late-offsets", "admin", "told-otherwise"),
    ("releases-accepted", SHARES, "accepted-again"),
    ("releases-rejected", SHARES, "rejected-again"),
    ("accepts-all", SHARES, "acknowledged-unsaid"),
    ("leaves-out", SHARES, "acknowledged-unsaid"),
    ("leaves-out", SHARES, "undelivered"),
    ("goes-back", SHARES, "not-acquired"),
    ("miscounts", SHARES, "delivery-count"),
    ("tells-otherwise", SHARES, "told-two-things"),
    ("never-tells", SHARES, "untold"),
    ("stops-reading", SHARES, "stuck"),
    ("hangs", SHARES, "call-overdue"),
)
"""Clients, the workload that shows what is wrong with each, and the invariant that it violates."""


async def found(
    wrong: str,
    workload: str,
    patience: Patience,
    enough: str = "",
    seeds: range | None = None,
    change: Callable[[Plan], Plan] | None = None,
) -> set[str]:
    """The invariants that are violated, until there is `enough`. All events are left out but those of a
    `change`, by default that of `CHANGES`: what is found is the client's own doing."""
    invariants: set[str] = set()

    def drawn(seed: int, capabilities: frozenset[str], kafka: str) -> Plan:
        plan = replace(draw(seed, capabilities, kafka, workload), steps=())
        changed = change or CHANGES.get(wrong)
        return plan if changed is None else changed(plan)

    def take(result: Result) -> None:
        invariants.update(each.violation.invariant for each in result.found)
        if enough in invariants:
            scope.cancel()

    # Each process more takes half a second before it can do anything.
    async with campaign(command(wrong), 2, repeats=0, patience=patience) as drivers:
        with trio.CancelScope() as scope:
            await drivers.hunt(seeds or (MOST_SEEDS if enough else SEEDS), take, "4.4", drawn)
    return invariants


@pytest.mark.parametrize(("wrong", "workload", "invariant"), in_turn(WRONG, 3))
@pytest.mark.trio
async def test_a_wrong_client(wrong: str, workload: str, invariant: str) -> None:
    assert invariant in await found(wrong, workload, IMPATIENT, invariant)


@pytest.mark.parametrize(
    "workload",
    ["producer", "idempotent", "transactions", "processor", "members", "bad payloads", "admin", SHARES],
)
@pytest.mark.trio
async def test_the_right_client(workload: str) -> None:
    assert await found("right", workload, Patience()) == set()


@pytest.mark.parametrize("change", [widens, adds_a_topic, has_racks])
@pytest.mark.trio
async def test_the_right_client_finds_what_is_added_and_what_is_near(change: Callable[[Plan], Plan]) -> None:
    assert await found("right", "members", Patience(), seeds=range(1, 4), change=change) == set()


@pytest.mark.parametrize("workload", ["transactions", "processor", "members"])
@pytest.mark.trio
async def test_a_client_that_lacks_verbs_is_not_wrong(workload: str) -> None:
    assert await found("lacking", workload, Patience()) == set()


@pytest.mark.trio
async def test_a_commit_is_not_about_what_a_callback_has_told_of() -> None:
    """A client may send what is said at once, and tell by its callback alone what becomes of that."""
    assert await found("tells-before", SHARES, Patience(), seeds=range(2, 4)) == set()


@pytest.mark.trio
async def test_a_consumer_that_could_not_subscribe_is_followed_by_another() -> None:
    """What it reads is all that there is; that it could not is the client's own doing."""
    assert await found("joins-late", "members", Patience()) == {"needless"}


@pytest.mark.trio
async def test_a_slow_client_is_played_alone() -> None:
    assert await found("dawdles", "producer", Patience(), seeds=range(1, 3)) == {"slow"}
