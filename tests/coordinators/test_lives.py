"""Lives of groups with one and two members."""

import pytest

from mockbroker.protocol.errors import ErrorCode as E

from ..driving.cluster import NOW_MS
from ..driving.groups import REBALANCE_MS, SESSION_MS, GroupDriver, subscription


def test_a_member_alone(driver: GroupDriver) -> None:
    first = driver.join(client_id="me")
    assert (first.error_code, first.generation_id, first.leader) == (E.MEMBER_ID_REQUIRED, -1, "")
    assert first.member_id.startswith("me-")
    assert driver.state == "Empty"
    joined = driver.join(first.member_id)
    assert (joined.error_code, joined.generation_id) == (0, 1)
    assert (joined.protocol_type, joined.protocol_name) == ("consumer", "range")
    assert joined.leader == joined.member_id == first.member_id
    assert [(m.member_id, m.metadata) for m in joined.members] == [(first.member_id, subscription("orders"))]
    assert driver.state == "CompletingRebalance"
    synced = driver.sync(joined, {joined.member_id: b"all"})
    assert (synced.error_code, synced.assignment) == (0, b"all")
    assert (synced.protocol_type, synced.protocol_name) == ("consumer", "range")
    assert driver.state == "Stable"
    assert driver.heartbeat(joined) == 0
    assert driver.sync(joined).assignment == b"all"
    left = driver.leave(joined.member_id)
    assert [(m.member_id, m.error_code) for m in left.members] == [(joined.member_id, 0)]
    assert (driver.state, driver.group.generation) == ("Empty", 2)
    assert driver.heartbeat(joined) == E.UNKNOWN_MEMBER_ID


def test_up_to_v3_a_member_joins_in_one_step() -> None:
    driver = GroupDriver("3.9")
    joined = driver.join(version=3)
    assert (joined.error_code, joined.generation_id, joined.leader) == (0, 1, joined.member_id)


@pytest.mark.parametrize(("release", "prefix"), [("3.0", "null-"), ("3.1", "-"), ("4.4", "-")])
def test_a_client_without_an_id_is_null_or_nobody(release: str, prefix: str) -> None:
    assert GroupDriver(release).join(client_id=None).member_id.startswith(prefix)  # type: ignore[arg-type]


def test_member_ids_come_from_the_seed() -> None:
    assert GroupDriver().join().member_id == GroupDriver().join().member_id


def test_a_second_member_makes_the_first_join_again(driver: GroupDriver) -> None:
    (first,) = driver.stable(None)
    second = driver.enter()
    assert second.parked
    assert driver.state == "PreparingRebalance"
    assert driver.heartbeat(first) == E.REBALANCE_IN_PROGRESS
    assert driver.sync(first).error_code == E.REBALANCE_IN_PROGRESS
    again = driver.join(first.member_id)
    assert (again.generation_id, second.generation_id) == (2, 2)
    assert again.leader == second.leader == first.member_id
    assert {m.member_id for m in again.members} == {first.member_id, second.member_id}
    assert second.members == []
    follower = driver.sync(second)
    assert follower.parked
    assert driver.heartbeat(second) == 0
    leader = driver.sync(again, {again.member_id: b"1", second.member_id: b"2"})
    assert (leader.assignment, follower.assignment) == (b"1", b"2")
    assert driver.heartbeat(first) == E.ILLEGAL_GENERATION
    assert driver.heartbeat(again) == driver.heartbeat(second) == 0


def test_a_member_that_the_leader_forgot_gets_an_empty_assignment(driver: GroupDriver) -> None:
    (first,) = driver.stable(None)
    second = driver.enter()
    again = driver.join(first.member_id)
    follower = driver.sync(second)
    driver.sync(again, {again.member_id: b"1", "nobody": b"2"})
    assert (follower.error_code, follower.assignment) == (0, b"")


def test_a_member_leaves_and_the_other_gets_all(driver: GroupDriver) -> None:
    first, second = driver.stable(None, None)
    driver.leave(first.member_id)
    assert driver.heartbeat(second) == E.REBALANCE_IN_PROGRESS
    again = driver.join(second.member_id)
    assert (again.generation_id, again.leader) == (3, second.member_id)


def test_the_leader_joins_a_stable_group_again(driver: GroupDriver) -> None:
    leader, follower = driver.stable(None, None)
    again = driver.join(leader.member_id)
    assert again.parked
    assert driver.heartbeat(follower) == E.REBALANCE_IN_PROGRESS
    driver.join(follower.member_id)
    assert again.generation_id == leader.generation_id + 1


def test_a_follower_joins_a_stable_group_again(driver: GroupDriver) -> None:
    leader, follower = driver.stable(None, None)
    same = driver.join(follower.member_id)
    assert (same.generation_id, same.leader, same.members) == (2, leader.member_id, [])
    assert driver.state == "Stable"
    changed = driver.join(follower.member_id, protocols={"range": subscription("payments")})
    assert changed.parked
    assert driver.state == "PreparingRebalance"


def test_joining_again_while_the_assignment_is_awaited(driver: GroupDriver) -> None:
    (first,) = driver.stable(None)
    second = driver.enter()
    leader = driver.join(first.member_id)
    same = driver.join(leader.member_id)
    assert (same.generation_id, len(same.members)) == (2, 2)
    assert driver.join(second.member_id).members == []
    waiting = driver.sync(second)
    changed = driver.join(leader.member_id, protocols={"range": subscription("payments")})
    assert changed.parked
    assert waiting.error_code == E.REBALANCE_IN_PROGRESS


def test_the_protocol_that_most_prefer_is_taken_of_those_that_all_support() -> None:
    driver = GroupDriver(group_initial_rebalance_delay_ms=1000)
    for order in ("a b c", "b a", "b a"):
        last = driver.enter(protocols={name: name.encode() for name in order.split()})
    driver.advance(10_000)
    assert last.protocol_name == "b"
    leader = driver.group.members[driver.group.leader or ""]
    assert driver.group.joined(leader.id, with_members=True).members[0].metadata == b"b"


def test_the_first_rebalance_waits_for_more_members() -> None:
    driver = GroupDriver(group_initial_rebalance_delay_ms=3000)
    first = driver.enter()
    driver.advance(2999)
    second = driver.enter()
    assert first.parked
    driver.advance(3000)
    assert first.parked
    driver.advance(1)
    assert (first.generation_id, second.generation_id) == (1, 1)


def test_the_first_rebalance_waits_no_longer_than_the_rebalance_timeout() -> None:
    driver = GroupDriver(group_initial_rebalance_delay_ms=3000)
    first = driver.enter(rebalance_ms=7000)
    for _ in range(7):
        driver.advance(1000)
        driver.enter(rebalance_ms=7000)
    assert not first.parked
    assert driver.now_ms == NOW_MS + 7000


def test_a_group_that_is_full() -> None:
    driver = GroupDriver(group_max_size=1)
    (only,) = driver.stable(None)
    new = driver.join()
    assert (new.error_code, new.member_id) == (E.GROUP_MAX_SIZE_REACHED, "")
    assert driver.heartbeat(only) == 0
    driver.leave(only.member_id)
    assert driver.join().error_code == E.MEMBER_ID_REQUIRED


def test_a_second_member_while_the_group_gathers() -> None:
    driver = GroupDriver(group_max_size=1)
    (only,) = driver.stable(None)
    driver.join(only.member_id, protocols={"range": b"new"})
    assert driver.group.generation == 2
    assert driver.join().error_code == E.GROUP_MAX_SIZE_REACHED


def test_time_alone_ends_nothing_but_sessions(driver: GroupDriver) -> None:
    (only,) = driver.stable(None)
    for _ in range(100):
        driver.advance(SESSION_MS - 1)
        assert driver.heartbeat(only) == 0
    assert driver.cluster.now_ms > REBALANCE_MS
    driver.advance(SESSION_MS)
    assert driver.state == "Empty"
