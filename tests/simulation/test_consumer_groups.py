"""Histories with a group to whose members the coordinator assigns partitions (KIP-848)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from mockbroker.plan_files import PlanError
from mockbroker.simulation.checking import check
from mockbroker.simulation.group_setting import GroupSetting
from mockbroker.simulation.history import History, draw, happen
from mockbroker.simulation.invariants import INVARIANTS
from mockbroker.simulation.ownership import Ownership
from mockbroker.simulation.plan import Options, Plan, Step
from mockbroker.simulation.scene import Scene
from mockbroker.simulation.shrinking import shrink
from tests.properties import examples

OF_MEMBERS = {
    "partition-owned-twice",
    "revoked-partition-read",
    "member-epoch-back",
    "group-epoch-back",
    "committed-offset-back",
    "skipped-below-committed",
    "group-unsettled",
    "group-offset-back",
    "group-offset-lost",
    "unread-record-skipped",
}
ONCE = {"assignor-change": "at-change"}
LATER = {
    "assignor-change": "next-epoch",
    "emptied-expression": "next-epoch",
    "joining-again": "fenced",
    "old-member-epoch": "refused",
    "unsubscribed-partitions": "next-assignment",
}
STARTS = (Step(100, "start-member", {"member": 0}), Step(200, "start-member", {"member": 1}))

LAST = Step(9_000, "feed", {"partition": 0, "count": 1})


def options(kafka: str = "4.4", policies: Mapping[str, str] = ONCE, *, expressions: bool = False) -> Options:
    return Options(kafka, policies, consumer_groups=True, expressions=expressions)


def violated(history: History) -> set[str]:
    return {each.invariant for each in history.violations}


def a_plan(
    steps: Sequence[Step],
    group: GroupSetting | None = None,
    kafka: str = "4.4",
    policies: Mapping[str, str] = ONCE,
) -> Plan:
    """Two members that own two partitions each, and what happens to them."""
    given = group or GroupSetting(2, 2)
    ordered = tuple(sorted((*STARTS, *steps), key=lambda each: each.at_ms))
    return Plan(7, kafka, dict(policies), steps=ordered, group=given, commit_rate=1.0, quiet_ms=6_000)


def told(plan: Plan, who: str) -> list[str]:
    """What a member, or what it reads of a partition, says."""
    history = happen(plan, recording=True)
    assert not violated(history)
    return [line.what for line in history.lines if line.who == who]


def test_the_rest_of_a_history_is_drawn_as_without() -> None:
    for seed in range(60):
        plain, grouped = draw(seed, Options()), draw(seed, options())
        assert all(step in grouped.steps for step in plain.steps)
        assert 2 <= grouped.group.members <= 4
        assert not plain.group.members
        assert replace(grouped, steps=(), group=plain.group, policies={}, quiet_ms=plain.quiet_ms) == (
            replace(plain, steps=())
        )


@pytest.mark.parametrize(
    ("turn", "kafka", "policies"),
    [(0, "4.0", {}), (1, "4.1", {}), (2, "4.2", {}), (3, "4.3", {}), (4, "4.4", ONCE), (5, "4.4", LATER)],
)
def test_groups_keep_their_promises(turn: int, kafka: str, policies: dict[str, str]) -> None:
    """Each release has seeds of its own."""
    read, seeds = 0, examples(20)
    for seed in range(turn * seeds, (turn + 1) * seeds):
        history = happen(draw(seed, options(kafka, policies)))
        cut_off = any(step.do == "cut-off-broker" for step in history.plan.steps)
        assert not violated(history) & (OF_MEMBERS - {"partition-owned-twice"} if cut_off else OF_MEMBERS)
        read += history.requests
    assert read > 125 * seeds


def test_two_assignors_with_as_many_members_never_come_to_rest() -> None:
    """Of 4.4 itself: every heartbeat of some members begins an epoch (see `assignor-change`)."""
    plans = [draw(seed, options(policies={})) for seed in range(40)]
    found = next(plan for plan in plans if "group-unsettled" in violated(happen(plan)))
    small = shrink(found, "group-unsettled")
    assert len(set(small.group.assignors)) > 1
    assert len(small.steps) < len(found.steps)
    for answer in ("at-change", "next-epoch"):
        assert not violated(happen(replace(small, policies={"assignor-change": answer}))) & OF_MEMBERS


def test_a_coordinator_that_is_cut_off_goes_on_answering() -> None:
    """Its members can't know that another coordinator has given their partitions to others."""
    steps = (
        STARTS[0],
        Step(3_000, "cut-off-broker", {"broker": 1}),
        Step(6_000, "start-member", {"member": 1}),
        Step(8_500, "rejoin-broker", {"broker": 1}),
    )
    history = happen(replace(a_plan(()), steps=steps, commit_rate=0.0))
    assert violated(history) == {"partition-owned-twice"}
    assert "as it heard from broker 1, which was cut off" in history.violations[0].text
    healthy = (steps[0], steps[2])
    assert not violated(happen(replace(a_plan(()), steps=healthy)))


def test_partitions_go_from_one_to_the_other_with_what_was_committed() -> None:
    steps = [Step(2_000 + 10 * index, "feed", {"partition": index, "count": 3}) for index in range(4)]
    steps += [Step(4_000, "stop-member", {"member": 1}), LAST]
    said = told(a_plan(steps), "member-1/m-0")
    assert "goes on at its committed offset 3, epoch 0" in said


@pytest.mark.parametrize("static", [False, True])
def test_who_comes_back(static: bool) -> None:
    """A static member has its partitions again without an epoch of their own for others."""
    steps = [Step(4_000, "stop-member", {"member": 0}), Step(4_300, "start-member", {"member": 0})]
    said = told(a_plan(steps, GroupSetting(2, 2, static=static)), "member-2")
    epochs = [each.split(",")[0] for each in said if each.startswith("is told epoch")]
    at = epochs.index("is told epoch 3")
    assert (epochs[at:].count("is told epoch 3") == len(epochs[at:])) is static


def test_a_member_that_paused_joins_again() -> None:
    said = told(a_plan([Step(3_000, "pause-member", {"member": 0, "ms": 3_500}), LAST]), "member-1")
    assert "is told UNKNOWN_MEMBER_ID" in said
    assert said[-1].startswith("is told epoch")


def test_an_answer_that_is_lost_is_asked_for_again() -> None:
    steps = [Step(50, "lose-heartbeat", {"member": 0}), Step(3_000, "lose-heartbeat", {"member": 1})]
    for kafka in ("4.0", "4.4"):
        assert told(a_plan(steps, kafka=kafka, policies={}), "member-1")[-1].startswith("is told epoch")


def test_members_follow_their_coordinator() -> None:
    moves = [Step(1_500 + 500 * index, "move-coordinator") for index in range(4)]
    assert told(a_plan(moves), "member-1")[-1].startswith("is told epoch")


@pytest.mark.parametrize(("choice", "topics"), [(0, {"m"}), (1, {"n"}), (3, {"m", "n"}), (4, {"m"})])
def test_what_members_subscribe_to(choice: int, topics: set[str]) -> None:
    """By name, and by regular expression."""
    steps = [Step(10, "subscribe-member", {"member": index, "to": choice}) for index in (0, 1)]
    plan = replace(a_plan(steps, GroupSetting(2, 1)), quiet_ms=20_000)
    owned = [
        said[-1].split("own ")[1].split(", ") for said in (told(plan, "member-1"), told(plan, "member-2"))
    ]
    assert {each.rpartition("-")[0] for found in owned for each in found} - {""} == topics


def test_a_group_in_a_file() -> None:
    plan = a_plan((), GroupSetting(3, 1, static=True, assignors=("", "range", "uniform")))
    assert check(Plan.from_json(plan.to_json())) == plan


@pytest.mark.parametrize(
    ("group", "said"),
    [
        (GroupSetting(-1), "members of the group is -1"),
        (GroupSetting(2, 1_000), "partitions of the group is 1000"),
        (GroupSetting(True), "members of the group is True"),
        (GroupSetting(1, assignors=("sticky",)), "an assignor is 'sticky'"),
    ],
)
def test_what_is_no_group(group: GroupSetting, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        check(a_plan((), group))


def test_a_file_from_before_there_were_such_groups() -> None:
    plan = Plan(1, "4.4")
    text = plan.to_json()
    old = text[: text.index(' "group"')] + text[text.index(' "steps"') :]
    assert Plan.from_json(old) == plan


# -- what is a violation


def an_ownership() -> tuple[Scene, Ownership]:
    scene = Scene(Plan(1, "4.4"))
    ownership = Ownership(scene, "k")
    for name in ("member-1", "member-2"):
        ownership.claim(name).session_ms = scene.cluster.now_ms + 1_500
    return scene, ownership


def found_by(scene: Scene) -> list[str]:
    assert {each.invariant for each in scene.violations} <= INVARIANTS.keys()
    return [each.invariant for each in scene.violations]


@pytest.mark.parametrize(
    ("waits_ms", "gives_up_by_ms", "expected"),
    [
        (0, None, ["partition-owned-twice"]),
        (1_499, None, ["partition-owned-twice"]),
        (1_500, None, []),
        (999, 1_000, ["partition-owned-twice"]),
        (1_000, 1_000, []),
    ],
)
def test_a_partition_is_owned_until_its_owner_may_be_fenced(
    waits_ms: int, gives_up_by_ms: int | None, expected: list[str]
) -> None:
    scene, ownership = an_ownership()
    ownership.takes("member-1", ("m", 0))
    first = ownership.claim("member-1")
    first.give_up_by_ms = None if gives_up_by_ms is None else scene.cluster.now_ms + gives_up_by_ms
    scene.run_until(waits_ms)
    ownership.claim("member-2").session_ms = scene.cluster.now_ms + 1_500
    ownership.takes("member-2", ("m", 0))
    assert found_by(scene) == expected


def test_a_member_whose_session_may_be_over_may_take_what_others_own() -> None:
    scene, ownership = an_ownership()
    ownership.takes("member-1", ("m", 0))
    ownership.claim("member-2").session_ms = scene.cluster.now_ms
    ownership.takes("member-2", ("m", 0))
    assert found_by(scene) == []


def test_a_partition_that_was_given_up_is_free() -> None:
    scene, ownership = an_ownership()
    ownership.takes("member-1", ("m", 0))
    ownership.stops("member-1", ("m", 0))
    ownership.reads("member-1", ("m", 0))
    assert found_by(scene) == ["revoked-partition-read"]
    ownership.gives_up("member-1", ("m", 0))
    ownership.takes("member-2", ("m", 0))
    ownership.reads("member-2", ("m", 0))
    assert found_by(scene) == ["revoked-partition-read"]


def test_epochs_never_go_back() -> None:
    scene, ownership = an_ownership()
    until_ms = scene.cluster.now_ms + 1_500
    assert ownership.floor() == 0
    ownership.entered("member-1", 4, 0, until_ms)
    ownership.entered("member-1", 4, None, until_ms)
    ownership.entered("member-2", 4, ownership.floor(), until_ms)
    assert found_by(scene) == []
    ownership.entered("member-1", 3, None, until_ms)
    assert found_by(scene) == ["member-epoch-back"]
    ownership.ends("member-2")
    ownership.entered("member-2", 3, ownership.floor(), until_ms)
    assert found_by(scene)[1:] == ["group-epoch-back"]
    ownership.ends("member-1")
    ownership.ends("member-2")
    ownership.entered("member-2", 1, ownership.floor(), until_ms)
    assert len(found_by(scene)) == 2


def test_an_answer_that_comes_after_the_session_says_nothing_of_the_group() -> None:
    """It may have been deleted, and there may be another one of that name."""
    scene, ownership = an_ownership()
    late_ms, until_ms = scene.cluster.now_ms, scene.cluster.now_ms + 1_500
    ownership.entered("member-1", 2, 0, until_ms)
    ownership.entered("member-2", 3, None, late_ms)
    ownership.ends("member-2")
    assert ownership.floor() == 2
    ownership.entered("member-2", 2, ownership.floor(), until_ms)
    assert found_by(scene) == []
