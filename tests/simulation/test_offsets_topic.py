"""Histories in which coordinators move, and LinkedIn's two offset rewinds in them."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from mockbroker.simulation.consumer_setting import ConsumerSetting, Reset
from mockbroker.simulation.history import History, draw, happen
from mockbroker.simulation.plan import Options, Plan, Step

RACE = {"offsets-cleanup": "during-load", "offsets-load-pace": "slow", "compaction": "dead"}
OF_GROUPS = {"group-offset-back", "group-offset-lost", "unread-record-skipped", "consumer-stuck"}


def options(kafka: str, policies: Mapping[str, str], *, newer_commits: bool = False) -> Options:
    return Options(kafka, policies, offsets_topic=True, newer_commits=newer_commits)


def violated(history: History) -> set[str]:
    return {each.invariant for each in history.violations}


def first(invariant: str, given: Options, seeds: int) -> Plan | None:
    plans = (draw(seed, given) for seed in range(seeds))
    return next((plan for plan in plans if invariant in violated(happen(plan))), None)


def test_the_rest_of_a_history_is_drawn_as_without() -> None:
    for seed in range(60):
        plain = draw(seed, Options()).steps
        moving = draw(seed, options("4.4", {})).steps
        newer = draw(seed, options("4.4", {}, newer_commits=True)).steps
        assert all(step in moving for step in plain)
        assert [step for step in newer if step.do != "newer-commit"] == list(moving)
        assert "move-coordinator" in {step.do for step in moving}
        assert len(newer) > len(moving) > len(plain)


@pytest.mark.parametrize(
    ("kafka", "policies", "invariant"),
    [
        ("2.3", {"offsets-load": "stops"}, "group-offset-back"),
        ("4.4", {"offsets-load": "stops"}, "group-offset-back"),
        ("3.9", {}, "group-offset-lost"),
        ("4.4", {}, "consumer-stuck"),
    ],
)
def test_a_load_that_meets_a_record_of_a_newer_version(
    kafka: str, policies: dict[str, str], invariant: str
) -> None:
    found = first(invariant, options(kafka, policies, newer_commits=True), 60)
    assert found
    readable = tuple(step for step in found.steps if step.do != "newer-commit")
    assert not violated(happen(found.with_steps(readable))) & OF_GROUPS
    skipped = replace(found, policies={"offsets-load": "skips"})
    assert not violated(happen(skipped)) & OF_GROUPS


@pytest.mark.parametrize("kafka", ["2.3", "4.4"])
def test_a_cleanup_that_races_a_long_load(kafka: str) -> None:
    found = first("group-offset-lost", options(kafka, RACE), 30)
    assert found
    for right in ({"offsets-cleanup": "after-load"}, {"offsets-load-pace": "fast"}):
        assert not violated(happen(replace(found, policies={**RACE, **right}))) & OF_GROUPS


MOVED = (
    Step(0, "rebalance"),
    Step(700, "produce", {"producer": 0, "count": 2}),
    Step(1_500, "newer-commit"),
    Step(2_000, "produce", {"producer": 0, "count": 2}),
    Step(3_000, "stop-consumer"),
    Step(3_500, "produce", {"producer": 0, "count": 2}),
    Step(4_000, "move-coordinator"),
    Step(4_500, "rebalance"),
)
"""Two records are committed before the coordinator's log has one that can't be parsed, two after it, and two
more records are written while the group has stopped."""


@pytest.mark.parametrize(
    ("load", "reset", "expected"),
    [
        ("stops", Reset.LATEST, {"group-offset-back", "read-again-after-commit"}),
        ("loads-nothing", Reset.EARLIEST, {"group-offset-lost", "read-again-after-commit"}),
        ("loads-nothing", Reset.LATEST, {"group-offset-lost", "unread-record-skipped"}),
        ("fails", Reset.LATEST, {"consumer-stuck"}),
        ("skips", Reset.LATEST, set()),
    ],
)
def test_what_becomes_of_the_group(load: str, reset: Reset, expected: set[str]) -> None:
    plan = Plan(1, "4.4", {"offsets-load": load}, ConsumerSetting(reset=reset), commit_rate=1.0, steps=MOVED)
    assert violated(happen(plan)) == expected


@pytest.mark.parametrize(("idle_ms", "begins"), [(50_000, 1), (70_000, 2)])
def test_an_offset_that_has_expired_is_not_lost(idle_ms: int, begins: int) -> None:
    """The group may read everything once more."""
    steps = (*MOVED[:2], Step(3_000, "stop-consumer"), Step(3_000 + idle_ms, "rebalance"))
    history = happen(Plan(1, "4.4", offsets_retention_minutes=1, steps=steps), recording=True)
    assert not violated(history)
    assert sum("begins at earliest offset 0" in line.what for line in history.lines) == begins


DEPOSED = (
    Step(0, "rebalance"),
    Step(700, "produce", {"producer": 0, "count": 2}),
    Step(1_200, "move-leader", {"topic": 0}),
    Step(1_300, "pause-follower", {"broker": 1}),
    Step(1_350, "produce", {"producer": 0, "count": 1}),
    Step(2_000, "cut-off-broker", {"broker": 1}),
    Step(2_050, "produce", {"producer": 0, "count": 1}),
    Step(2_800, "newer-commit"),
    Step(2_900, "rejoin-broker", {"broker": 1}),
    Step(2_920, "consumer-dies"),
)
"""A record is committed to a coordinator that is cut off; another one writes as many commits."""


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("acknowledges", {"group-offset-back", "read-again-after-commit"}), ("refuses", set())],
)
def test_a_deposed_coordinator(answer: str, expected: set[str]) -> None:
    """KAFKA-20634."""
    plan = Plan(
        1,
        "4.2",
        {"deposed-coordinator": answer},
        ConsumerSetting(reset=Reset.EARLIEST),
        commit_rate=1.0,
        steps=DEPOSED,
    )
    assert violated(happen(plan)) == expected
