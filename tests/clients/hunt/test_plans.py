"""Plans: the same for the same seed, kept in files, and made smaller."""

from collections.abc import Collection
from dataclasses import replace

import pytest

from mockbroker.clients.hunt.drawing import draw, workloads
from mockbroker.clients.hunt.plan import Plan, smaller

ALL = frozenset({"groups", "assign", "idempotence", "transactions", "send-offsets", "deserializer"})


@pytest.mark.parametrize("seed", range(60))
def test_a_seed_is_a_plan(seed: int) -> None:
    plan = draw(seed, ALL)
    assert draw(seed, ALL) == plan
    assert Plan.from_json(plan.to_json()) == plan
    for each in smaller(plan):
        assert each.size < plan.size or len(each.users) < len(plan.users)
        assert replace(each, users=plan.users, steps=plan.steps) == plan


def test_a_quarter_of_the_plans_has_no_event() -> None:
    quiet = sum(not draw(seed, ALL).steps for seed in range(400))
    assert 60 < quiet < 140


@pytest.mark.parametrize(
    ("capabilities", "left", "used"),
    [
        (set(), {"producer"}, set()),
        ({"groups"}, {"producer", "members"}, {"groups"}),
        ({"assign"}, {"producer", "members"}, {"assign"}),
        ({"groups", "assign"}, {"producer", "members"}, {"groups"}),
        (
            {"groups", "transactions"},
            {"producer", "members", "transactions"},
            {"groups", "transactions"},
        ),
        ({"transactions", "send-offsets"}, {"producer", "transactions"}, {"transactions"}),
        (ALL, {"producer", "members", "idempotent", "transactions", "processor", "bad payloads"}, ALL),
    ],
)
def test_a_client_gets_what_it_can_do(capabilities: set[str], left: set[str], used: set[str]) -> None:
    assert set(workloads(capabilities)) == left
    plans = [draw(seed, capabilities, workload=each) for each in sorted(left) for seed in range(30)]
    assert set().union(*map(_asked_of_the_client, plans)) == used


def test_nothing_is_done_at_once_with_a_client_that_may_not_be_used_so() -> None:
    at_once = {"at-once", "ends-at-once", "commit-at-once", "admin", "create-partitions"}
    assert not any(map(_done_at_once, range(300)))
    assert set().union(*(_done_at_once(seed, at_once) for seed in range(300))) == {
        *("begin", "end", "otherwise", "send", "close"),
        *("commit", "apart", "widen"),
    }


def _done_at_once(seed: int, more: Collection[str] = ()) -> set[str]:
    done = set()
    for user in draw(seed, ALL | {*more}).users:
        for step in user.steps:
            done |= {step.fields[name] for name in ("meanwhile",) if name in step.fields}
            done |= {"apart"} if step.fields.get("apart") else set()
            done |= {"widen"} if step.do == "widen" and len(step.fields["topics"]) > 1 else set()
    return done


def _asked_of_the_client(plan: Plan) -> set[str]:
    """The capabilities that a driver needs to play it."""
    asked = set()
    for user in plan.users:
        if user.kind in ("member", "processor"):
            asked.add("groups" if user.fields["group"] else "assign")
        if user.kind == "processor":
            asked.add("send-offsets")
        if user.config.get("enable.idempotence"):
            asked.add("idempotence")
        if "transactional.id" in user.config:
            asked.add("transactions")
        if any(step.fields.get("what") == "bad" for step in user.steps):
            asked.add("deserializer")
    return asked
