"""What was played before steers what is played next."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from mockbroker.clients.hunt.coverage import Coverage, Known, Learning, more, read
from mockbroker.clients.hunt.drawing import draw
from mockbroker.clients.hunt.drawn_faults import Aiming, Asked, place_of, way_of, ways
from mockbroker.clients.hunt.placing import Acted
from mockbroker.clients.hunt.plan import Plan, Step
from mockbroker.faults import parse
from mockbroker.trace.events import Request

ALL = frozenset({"groups", "assign", "idempotence", "transactions", "send-offsets", "deserializer"})
WORKLOAD = "transactions"
ASKED = [
    Asked("transactions-*", "", "EndTxn", 3),
    Asked("transactions-*", "abort-transaction", "FindCoordinator", 1),
]


def known() -> Known:
    found = Known()
    found.requests[WORKLOAD] = ASKED
    return found


def drawn(seed: int, guide: Known | None) -> Plan:
    return draw(seed, ALL, workload=WORKLOAD, guide=guide)


def play(guide: Known, plan: Plan, *, comes: bool = True) -> None:
    """As if each fault that is aimed had acted on its request, or none had."""
    acted = [
        Acted(what="", step=step, client_id="transactions-1", api=str(step.fields.get("api")), state="s")
        for step in plan.steps
        if step.do == "fault" and comes
    ]
    guide.add(plan, acted)


def test_the_same_seed_and_file_give_the_same_plan(tmp_path: Path) -> None:
    path = tmp_path / "coverage.json"
    whole = Coverage()
    whole.clients["c 1, Kafka 4.4"] = known()
    for seed in range(40):
        play(whole.of("c 1", "4.4"), drawn(seed, whole.of("c 1", "4.4")))
    path.write_text(whole.to_json())
    again = read(path)
    assert again.to_json() == whole.to_json()
    plans = [drawn(seed, again.of("c 1", "4.4")) for seed in range(40, 80)]
    assert plans == [drawn(seed, whole.of("c 1", "4.4")) for seed in range(40, 80)]
    assert plans != [drawn(seed, known()) for seed in range(40, 80)]


def aimed(guide: Known, count: int) -> Iterator[Plan]:
    """The first plans that have a fault which is aimed; without a second one, since that is not aimed by
    itself, and without those that have something else in its place."""
    plans = (drawn(seed, guide) for seed in itertools.count())
    some = (replace(plan, steps=plan.steps[:1]) for plan in plans if plan.steps and place_of(plan.steps[0]))
    return itertools.islice((plan for plan in some if "done" not in way_of(plan.steps[0].fields)), count)


def test_what_was_never_seen_comes_first() -> None:
    guide, firsts = known(), []
    for plan in aimed(guide, 120):
        (step,) = plan.steps
        firsts.append((place_of(step), str(step.fields.get("api")), way_of(step.fields)))
        play(guide, plan)
    every = len(set(firsts))
    assert len(set(firsts[:every])) > every * 0.9
    places = {place for place, _, _ in firsts}
    assert {"1", "2", "3", "1 after abort-transaction", "1 of a connection", "2 of a connection"} <= places


def test_what_never_comes_is_left_alone_for_long_after_three_times() -> None:
    guide, tried = known(), list[bool]()
    for plan in aimed(guide, 240):
        never = plan.steps[0].fields.get("api") == "FindCoordinator"
        tried.append(never)
        play(guide, plan, comes=not never)
    aims = len(ways("FindCoordinator", transactional=True, brokers=1))
    assert sum(tried[:120]) >= 3 * aims
    assert not any(tried[120:])


def test_each_fault_that_may_be_aimed_is_legal_and_has_its_own_name() -> None:
    for api in ("EndTxn", "Produce", "JoinGroup", "InitProducerId", "ApiVersions", "*"):
        for transactional in (False, True):
            every = ways(api, transactional=transactional, brokers=3)
            for name, fields in every.items():
                given = {} if api == "*" else {"api": api}
                assert not parse({**fields, **given, "nth": 1}).illegal, (api, name)
                assert way_of(fields) == name
    assert "move-coordinator" not in ways("EndTxn", transactional=True, brokers=1)


def test_two_runs_teach_the_most_that_is_asked() -> None:
    def request(user: str, api: str) -> Request:
        return Request(1, 0, 1, "c", user, api, 1, 1, (), {})

    lessons = []
    for aborts in (1, 3):
        lesson = Learning()
        lesson.heard(request("transactions-0", "Metadata"))
        lesson.begins("transactions-0", "abort-transaction")
        for _ in range(aborts):
            lesson.heard(request("transactions-0", "EndTxn"))
            lesson.heard(request("transactions-11", "EndTxn"))
        lesson.over = True
        lesson.heard(request("transactions-0", "Fetch"))
        lessons.append([*lesson.asked()])
    assert more(*lessons) == [
        Asked("transactions-*", "", "EndTxn", 3),
        Asked("transactions-*", "", "Metadata", 1),
        Asked("transactions-*", "abort-transaction", "EndTxn", 3),
    ]


def test_a_user_that_makes_the_call_is_waited_for() -> None:
    users = {"transactions-1": {"abort-transaction": 2}, "transactions-0": {}, "reader": {"poll": 1}}
    aiming = Aiming(Random(1), ASKED[1:], users, transactional=True, brokers=1)
    waits: list[Step] = [step for seed in range(50) for step in aiming.steps(None, WORKLOAD, seed)]
    called = [step.on for step in waits if "call" in step.on]
    assert called
    assert {each["user"] for each in called} == {"transactions-1"}
    assert {each["nth"] for each in called} == {1, 2}


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text('{"schema": "mockbroker-hunt-coverage", "version": 1, "clients": ["x"]}')
    with pytest.raises(ValueError, match=r"c\.json is not the coverage of mockbroker hunt"):
        read(path)
