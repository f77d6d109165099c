"""Static members (KIP-345, KIP-814)."""

from typing import Any

import pytest

from mockbroker.protocol.errors import ErrorCode as E

from ..driving.groups import REBALANCE_MS, SESSION_MS, GroupDriver, subscription


def test_a_static_member_joins_in_one_step(driver: GroupDriver) -> None:
    joined = driver.join(instance="one")
    assert (joined.error_code, joined.generation_id) == (0, 1)
    assert joined.member_id.startswith("one-")
    assert joined.members[0].group_instance_id == "one"


def test_a_follower_comes_back_without_a_rebalance(driver: GroupDriver) -> None:
    leader, follower = driver.stable("one", "two")
    back = driver.join(instance="two")
    assert (back.error_code, back.generation_id) == (0, follower.generation_id)
    assert back.member_id != follower.member_id
    assert (back.leader, back.members, back.skip_assignment) == (leader.member_id, [], False)
    assert driver.sync(back).assignment == b"a1"
    assert driver.state == "Stable"
    assert driver.heartbeat(leader) == 0


def test_the_leader_comes_back_and_skips_the_assignment(driver: GroupDriver) -> None:
    leader, follower = driver.stable("one", "two")
    back = driver.join(instance="one")
    assert (back.leader, back.skip_assignment) == (back.member_id, True)
    assert {m.member_id for m in back.members} == {back.member_id, follower.member_id}
    assert driver.sync(back).assignment == b"a0"
    assert driver.heartbeat(leader) == E.UNKNOWN_MEMBER_ID


def test_up_to_v8_the_leader_comes_back_as_a_follower(driver: GroupDriver) -> None:
    leader, _ = driver.stable("one", "two")
    back = driver.join(instance="one", version=8)
    assert (back.leader, back.members, back.skip_assignment) == (leader.member_id, [], False)
    assert driver.group.leader == back.member_id


def test_the_one_that_was_replaced_is_fenced(driver: GroupDriver) -> None:
    old, _ = driver.stable("one", "two")
    new = driver.join(instance="one")
    fenced: dict[str, Any] = {"group_instance_id": "one"}
    assert driver.heartbeat(old, **fenced) == E.FENCED_INSTANCE_ID
    assert driver.sync(old, **fenced).error_code == E.FENCED_INSTANCE_ID
    assert driver.join(old.member_id, instance="one").error_code == E.FENCED_INSTANCE_ID
    assert driver.leave((old.member_id, "one")).members[0].error_code == E.FENCED_INSTANCE_ID
    assert set(driver.commit({("orders", 0): 1}, old, **fenced).values()) == {E.FENCED_INSTANCE_ID}
    assert driver.heartbeat(new, **fenced) == 0


def test_an_instance_id_that_is_not_known(driver: GroupDriver) -> None:
    (only,) = driver.stable("one")
    assert driver.heartbeat(only, group_instance_id="two") == E.UNKNOWN_MEMBER_ID


def test_coming_back_with_another_subscription_does_not(driver: GroupDriver) -> None:
    leader, follower = driver.stable("one", "two", protocols={"range": subscription("orders")})
    back = driver.join(instance="two", protocols={"range": subscription("orders", "refunds")})
    assert (back.error_code, back.generation_id) == (0, follower.generation_id)
    assert driver.heartbeat(leader) == 0


@pytest.mark.parametrize(
    ("topics", "rebalances"), [(["refunds", "orders"], True), (["orders"], False), ([], True)]
)
def test_with_the_fix_that_is_proposed_it_does(topics: list[str], *, rebalances: bool) -> None:
    driver = GroupDriver("4.4", {"static-subscription": "rebalance"})
    leader, _ = driver.stable("one", "two", protocols={"range": subscription("orders")})
    back = driver.join(instance="two", protocols={"range": subscription(*topics)})
    assert back.parked is rebalances
    assert driver.heartbeat(leader) == (E.REBALANCE_IN_PROGRESS if rebalances else 0)


def test_coming_back_with_another_protocol_rebalances(driver: GroupDriver) -> None:
    both = {"range": subscription("orders"), "sticky": subscription("orders")}
    leader, _ = driver.stable("one", "two", protocols=both)
    back = driver.join(instance="two", protocols={"sticky": subscription("orders")})
    assert back.parked
    assert driver.heartbeat(leader) == E.REBALANCE_IN_PROGRESS
    driver.join(leader.member_id, instance="one", protocols=both)
    assert (back.generation_id, back.protocol_name) == (3, "sticky")


def test_coming_back_with_another_subscription_does_not_rebalance(driver: GroupDriver) -> None:
    driver.stable("one", "two")
    back = driver.join(instance="two", protocols={"range": subscription("payments")})
    assert (back.error_code, driver.state) == (0, "Stable")


def test_coming_back_while_the_assignment_is_awaited_rebalances(driver: GroupDriver) -> None:
    first = driver.join(instance="one")
    second = driver.join(instance="two")
    first = driver.join(first.member_id, instance="one")
    waiting = driver.sync(second)
    back = driver.join(instance="two")
    assert waiting.error_code == E.FENCED_INSTANCE_ID
    assert back.parked
    assert driver.state == "PreparingRebalance"


def test_coming_back_while_joining_takes_the_place(driver: GroupDriver) -> None:
    (first,) = driver.stable("one")
    waiting = driver.join(instance="two")
    back = driver.join(instance="two")
    assert (waiting.error_code, waiting.generation_id) == (E.FENCED_INSTANCE_ID, -1)
    assert back.parked
    driver.join(first.member_id, instance="one")
    assert back.generation_id == 2


def test_a_static_member_leaves_by_its_instance_id(driver: GroupDriver) -> None:
    first, second = driver.stable("one", "two")
    (answer,) = driver.leave(("", "one")).members
    assert (answer.member_id, answer.group_instance_id, answer.error_code) == ("", "one", 0)
    assert driver.heartbeat(second) == E.REBALANCE_IN_PROGRESS
    assert driver.heartbeat(first, group_instance_id="one") == E.UNKNOWN_MEMBER_ID


def test_many_leave_at_once_and_the_group_is_empty_in_the_next_generation(driver: GroupDriver) -> None:
    driver.stable("one", "two", "three")
    answers = driver.leave(*[("", name) for name in ("one", "two", "three")]).members
    assert [a.error_code for a in answers] == [0, 0, 0]
    assert (driver.state, driver.group.generation) == ("Empty", 4)


def test_a_static_member_stays_when_it_does_not_join_again_in_time() -> None:
    driver = GroupDriver(group_max_session_timeout_ms=1_800_000)
    first, second = driver.stable("one", "two", session_ms=600_000)
    third = driver.join(instance="three", session_ms=600_000)
    again = driver.join(second.member_id, instance="two", session_ms=600_000)
    driver.advance(60_000)
    assert (third.generation_id, again.generation_id) == (3, 3)
    assert again.leader in (third.member_id, again.member_id)
    assert set(driver.group.members) == {first.member_id, second.member_id, third.member_id}
    assert driver.heartbeat(first, generation_id=3) == 0


def test_a_static_member_is_gone_after_its_session(driver: GroupDriver) -> None:
    (first,) = driver.stable("one")
    driver.advance(SESSION_MS)
    assert driver.state == "Empty"
    assert driver.heartbeat(first, group_instance_id="one") == E.UNKNOWN_MEMBER_ID
    assert driver.join(instance="one").error_code == 0


def test_coming_back_before_syncing_costs_a_rebalance_later(driver: GroupDriver) -> None:
    first = driver.join(instance="one", session_ms=600_000)
    driver.join(instance="two", session_ms=600_000)
    leader = driver.join(first.member_id, instance="one", session_ms=600_000)
    driver.sync(leader, {})
    back = driver.join(instance="two", session_ms=600_000)
    assert driver.sync(back).error_code == 0
    driver.advance(REBALANCE_MS)
    assert driver.heartbeat(leader) == E.REBALANCE_IN_PROGRESS
    assert driver.heartbeat(back) == E.REBALANCE_IN_PROGRESS
