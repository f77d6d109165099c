"""Plans: the same for the same seed, kept in files, and made smaller."""

import json
from dataclasses import replace

import pytest

from mockbroker.conformance.hunt.drawing import draw, workloads
from mockbroker.conformance.hunt.plan import Plan, smaller

ALL = frozenset({"groups", "assign", "idempotence", "transactions", "send-offsets", "deserializer"})


@pytest.mark.parametrize("seed", range(60))
def test_a_seed_is_a_plan(seed: int) -> None:
    plan = draw(seed, ALL)
    assert draw(seed, ALL) == plan
    assert Plan.from_json(json.loads(json.dumps(plan.as_json()))) == plan
    for each in smaller(plan):
        assert each.size < plan.size or len(each.users) < len(plan.users)
        assert replace(each, users=plan.users, steps=plan.steps) == plan


def test_a_quarter_of_the_plans_has_no_event() -> None:
    quiet = sum(not draw(seed, ALL).steps for seed in range(400))
    assert 60 < quiet < 140


@pytest.mark.parametrize(
    ("capabilities", "left"),
    [
        (set(), {"producer"}),
        ({"groups"}, {"producer", "members"}),
        ({"assign"}, {"producer", "members"}),
        ({"groups", "transactions"}, {"producer", "members", "transactions"}),
        ({"transactions", "send-offsets"}, {"producer", "transactions"}),
        (ALL, {"producer", "members", "idempotent", "transactions", "processor", "bad payloads"}),
    ],
)
def test_a_client_gets_what_it_can_do(capabilities: set[str], left: set[str]) -> None:
    assert set(workloads(capabilities)) == left
    for seed in range(30):
        plan = draw(seed, capabilities)
        if "groups" not in capabilities:
            assert not any(user.fields.get("group") for user in plan.users)
