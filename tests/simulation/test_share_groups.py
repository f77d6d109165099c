"""Histories with a share group (KIP-932): what is drawn, and which bugs are found."""

from dataclasses import replace
from typing import Final

import pytest

from mockbroker.plan_files import PlanError
from mockbroker.policies import fixes
from mockbroker.simulation.checking import check
from mockbroker.simulation.history import History, draw, happen
from mockbroker.simulation.plan import Options, Plan, Step
from mockbroker.simulation.share_setting import ShareSetting
from mockbroker.simulation.shrinking import shrink
from mockbroker.simulation.tracing import watch
from mockbroker.trace import Event
from tests.properties import examples

from .share_plans import OF_SHARE_GROUPS, a_plan

STUCK: Final = "share-group-stuck"


def options(kafka: str = "4.4", **policies: str) -> Options:
    return Options(
        kafka, {name.replace("_", "-"): answer for name, answer in policies.items()}, share_groups=True
    )


def violated(history: History) -> set[str]:
    return {each.invariant for each in history.violations}


def feeds(*at_ms: int, count: int = 4) -> list[Step]:
    return [Step(each, "feed-share", {"partition": 0, "count": count}) for each in at_ms]


# -- what is drawn and kept


def test_the_rest_of_a_history_is_drawn_as_without() -> None:
    for seed in range(60):
        plain, shared = draw(seed, Options()), draw(seed, options())
        assert all(step in shared.steps for step in plain.steps)
        assert not plain.shares.members
        assert 2 <= shared.shares.members <= 4
        assert replace(shared, steps=(), shares=plain.shares, quiet_ms=plain.quiet_ms) == replace(
            plain, steps=()
        )


def test_a_group_in_a_file() -> None:
    for seed in range(20):
        plan = draw(seed, options())
        assert check(Plan.from_json(plan.to_json())) == plan
    text = Plan(1, "4.4").to_json()
    before = text[: text.index(' "shares"')] + text[text.index(' "steps"') :]
    assert Plan.from_json(before) == Plan(1, "4.4")


@pytest.mark.parametrize(
    ("shares", "said"),
    [
        (ShareSetting(-1), "members of the share group is -1"),
        (ShareSetting(2, 0), "partitions of the share group is 0"),
        (ShareSetting(2, deliveries=1), "deliveries of the share group is 1"),
        (ShareSetting(2, lock_ms=10), "lock_ms of the share group is 10"),
        (ShareSetting(2, records=0), "records of the share group is 0"),
        (ShareSetting(2, strict=1), "strict of the share group is 1"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_share_group(shares: ShareSetting, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        check(replace(a_plan(), shares=shares))


# -- what happens


@pytest.mark.parametrize("kafka", ["4.2", "4.3", "4.4"])
def test_share_groups_keep_their_promises(kafka: str) -> None:
    requests, seeds = 0, examples(10)
    for seed in range(seeds):
        history = happen(draw(seed, Options(kafka, fixes(), share_groups=True)))
        assert not violated(history) & OF_SHARE_GROUPS, seed
        requests += history.requests
    assert requests > 200 * seeds


@pytest.mark.parametrize(
    ("policy", "invariant", "seeds"),
    [
        (("start-behind-log-start", "moves-back"), "share-start-back", [2]),
        (("release-beside-others", "stops"), "locked-after-session", [79]),
        (("altered-share-offsets", "stay"), "altered-offset-ignored", [1]),
        (("worn-records", "whole-batches"), "last-delivery-shared", [9]),
        (("delivery-at-session-end", "taken-back"), "delivery-count-wrong", [4]),
        (("added-share-partition", "reset"), "share-record-skipped", [16]),
    ],
    ids=lambda each: each[0] if isinstance(each, tuple) else str(each),
)
def test_known_bugs_are_found(policy: tuple[str, str], invariant: str, seeds: list[int]) -> None:
    """By the first seed that shows each of them; and not without the behaviour."""
    for seed in seeds:
        plan = draw(seed, Options("4.4", dict([policy]), share_groups=True))
        assert invariant in violated(happen(plan))
        assert invariant not in violated(happen(replace(plan, policies={})))


@pytest.mark.parametrize(
    ("behaviour", "fix", "seed", "invariant"),
    [
        ("altered-share-epoch", "begins", 44, "altered-offset-ignored"),
        ("log-start-in-a-gap", "goes-on", 77, STUCK),
        ("log-start-in-a-batch", "there", 174, STUCK),
    ],
)
def test_bugs_of_every_release_are_found(behaviour: str, fix: str, seed: int, invariant: str) -> None:
    """By the first seed that shows each of them; and not with its fix."""
    plan = draw(seed, options())
    history = happen(plan)
    assert invariant in violated(history)
    if invariant == STUCK:
        assert f"({behaviour})" in history.violations[-1].text
    assert not violated(happen(replace(plan, policies={behaviour: fix}))) & OF_SHARE_GROUPS


@pytest.mark.parametrize("seed", [0, 1])
def test_an_epoch_that_altered_offsets_do_not_begin_is_found(seed: int) -> None:
    """KAFKA-20910: the group is empty, and told to begin anew twice. A member that nobody counts any more has
    the leader read the state in between."""
    feeding = feeds(1_000, 1_500, 3_500, 3_800, 4_000, 4_500, 4_700, 4_900)
    altered = [Step(each, "alter-share-offsets", {"percent": 0}) for each in (3_600, 4_400)]
    steps = [*feeding, *altered, Step(1_600, "mute-sharer", {"member": 0, "ms": 5_000})]
    plan = replace(a_plan(*steps, members=1, implicit=True), seed=seed)
    kept, begins = (
        happen(replace(plan, policies={"altered-share-epoch": answer})) for answer in ("kept", "begins")
    )
    assert violated(kept) == {"altered-offset-ignored"}
    assert not violated(begins)


def test_a_found_bug_is_made_smaller() -> None:
    plan = draw(4, options(delivery_at_session_end="taken-back"))
    small = shrink(plan, "delivery-count-wrong")
    assert len(small.steps) < len(plan.steps)
    assert "delivery-count-wrong" not in violated(happen(replace(small, policies={})))


def test_a_member_that_reads_and_acknowledges() -> None:
    history = happen(a_plan(*feeds(1_500, 1_600), members=1, implicit=True), recording=True)
    said = [line.what for line in history.lines if line.who == "sharer-1"]
    assert "gets offsets 0 to 3 of w-0, delivery 1" in said
    assert any(each.startswith("says accept 0, 1, 2, 3") for each in said)
    assert not violated(history)


def test_a_member_that_died_comes_back_to_its_records() -> None:
    steps = [*feeds(1_000, 1_500), Step(1_540, "kill-sharer", {"member": 0})]
    history = happen(a_plan(*steps, members=1, implicit=True), recording=True)
    said = [line.what for line in history.lines if line.who == "sharer-1"]
    assert "gets offsets 4 to 7 of w-0, delivery 2" in said
    assert not violated(history)


def test_sessions_that_are_dropped_while_members_wait() -> None:
    """What is let go answers those that wait, even one of the session that ends."""
    steps = [*feeds(1_500), Step(1_560, "drop-share-sessions", {"broker": 1}), *feeds(1_700)]
    for broker in (1, 2, 3):
        steps += [Step(1_800 + 10 * broker, "drop-share-sessions", {"broker": broker})]
    assert not violated(happen(a_plan(*steps)))
    assert not violated(happen(draw(22, options()))) & OF_SHARE_GROUPS


def test_tracing_changes_nothing() -> None:
    plan, events = draw(3, options()), list[Event]()
    traced = happen(plan, watch=lambda world: watch(world, events.append))
    assert (traced.requests, traced.violations) == (happen(plan).requests, happen(plan).violations)
    assert events
