"""Sessions, rebalance timeouts, and who is removed by them."""

import pytest

from mockbroker.protocol.errors import ErrorCode as E

from ..driving.cluster import NOW_MS
from ..driving.groups import REBALANCE_MS, SESSION_MS, GroupDriver, subscription


def test_a_silent_member_is_removed(driver: GroupDriver) -> None:
    first, second = driver.stable(None, None)
    driver.advance(SESSION_MS - 1)
    assert driver.heartbeat(second) == 0
    driver.advance(1)
    assert driver.heartbeat(second) == E.REBALANCE_IN_PROGRESS
    assert driver.heartbeat(first) == E.UNKNOWN_MEMBER_ID
    assert driver.join(second.member_id).members[0].member_id == second.member_id


def test_a_pending_member_is_forgotten_after_its_session(driver: GroupDriver) -> None:
    pending = driver.new_id()
    driver.advance(SESSION_MS - 1)
    assert pending in driver.group.pending
    driver.advance(1)
    assert driver.join(pending).error_code == E.UNKNOWN_MEMBER_ID


def test_a_rebalance_waits_for_a_pending_member(driver: GroupDriver) -> None:
    (first,) = driver.stable(None)
    driver.new_id()
    again = driver.join(first.member_id)
    assert again.parked
    driver.advance(SESSION_MS)
    assert again.generation_id == 2


def test_a_rebalance_waits_until_its_timeout_and_goes_on_without_the_others(driver: GroupDriver) -> None:
    first, second = driver.stable(None, None, session_ms=600_000)
    third = driver.enter(session_ms=600_000)
    again = driver.join(second.member_id, session_ms=600_000)
    driver.advance(REBALANCE_MS - 1)
    assert third.parked
    driver.advance(1)
    assert (third.generation_id, again.generation_id) == (3, 3)
    assert again.leader in (again.member_id, third.member_id)
    assert driver.heartbeat(first) == E.UNKNOWN_MEMBER_ID


def test_the_longest_rebalance_timeout_counts(driver: GroupDriver) -> None:
    driver.stable(None, session_ms=600_000)
    second = driver.enter(rebalance_ms=2 * REBALANCE_MS)
    driver.advance(2 * REBALANCE_MS - 1)
    assert second.parked
    driver.advance(1)
    assert second.generation_id == 2


def test_a_member_that_waits_needs_no_heartbeat(driver: GroupDriver) -> None:
    leader, follower = driver.stable(None, None)
    again = driver.join(leader.member_id)
    for _ in range(4):
        driver.advance(SESSION_MS - 1)
        assert driver.heartbeat(follower) == E.REBALANCE_IN_PROGRESS
    assert again.parked
    driver.join(follower.member_id)
    assert again.generation_id == 3


@pytest.mark.parametrize("rebalance_ms", [0, -1])
def test_a_member_without_time_to_rebalance_is_removed_once_it_has_joined(rebalance_ms: int) -> None:
    driver = GroupDriver()
    joined = driver.join(version=2, rebalance_ms=rebalance_ms)
    assert (joined.error_code, joined.generation_id) == (0, 1)
    assert (driver.state, driver.group.members, driver.group.generation) == ("Empty", {}, 2)
    assert driver.sync(joined).error_code == E.UNKNOWN_MEMBER_ID


@pytest.mark.parametrize("driver", ["3.9", "4.4"], indirect=True)
def test_a_group_that_all_have_left_waits_for_no_pending_member(driver: GroupDriver) -> None:
    (last,) = driver.stable(None)
    pending = driver.new_id()
    driver.leave(last.member_id)
    assert driver.state == "Empty"
    assert driver.join(pending).generation_id == 3


def test_a_static_member_without_time_to_rebalance_is_waited_for_again_and_again() -> None:
    driver = GroupDriver("2.7")
    driver.stable("one", rebalance_ms=0)
    driver.enter(rebalance_ms=0, session_ms=SESSION_MS - 1)
    driver.advance(SESSION_MS)
    assert driver.state == "Empty"


def test_a_new_member_waits_no_longer_than_five_minutes(driver: GroupDriver) -> None:
    (first,) = driver.stable(None, session_ms=600_000, rebalance_ms=600_000)
    new = driver.enter()
    driver.advance(299_999)
    assert new.parked
    driver.advance(1)
    assert (new.error_code, new.member_id) == (E.UNKNOWN_MEMBER_ID, "")
    assert driver.join(first.member_id).generation_id == 2


def test_a_member_that_does_not_sync_in_time_is_removed(driver: GroupDriver) -> None:
    first, second = driver.stable(None, None, session_ms=600_000)
    leader = driver.join(first.member_id, session_ms=600_000)
    driver.join(second.member_id, session_ms=600_000)
    waiting = driver.sync(leader, {leader.member_id: b"x"})
    assert waiting.error_code == 0
    driver.advance(REBALANCE_MS)
    assert driver.heartbeat(second) == E.UNKNOWN_MEMBER_ID
    assert driver.heartbeat(leader) == E.REBALANCE_IN_PROGRESS


def test_a_leader_that_does_not_sync_holds_nobody_up_for_ever(driver: GroupDriver) -> None:
    first, second = driver.stable(None, None, session_ms=600_000)
    driver.join(first.member_id, session_ms=600_000)
    again = driver.join(second.member_id, session_ms=600_000)
    follower = driver.sync(again)
    driver.advance(REBALANCE_MS)
    assert follower.error_code == E.REBALANCE_IN_PROGRESS
    assert driver.join(second.member_id, session_ms=600_000).leader == second.member_id


@pytest.mark.parametrize(
    ("release", "heartbeat", "outcome"),
    [
        ("2.5", E.REBALANCE_IN_PROGRESS, E.REBALANCE_IN_PROGRESS),
        ("2.7", E.NONE, None),
        ("2.8", E.NONE, E.REBALANCE_IN_PROGRESS),
    ],
)
def test_a_leader_that_does_not_sync_but_heartbeats(release: str, heartbeat: E, outcome: E | None) -> None:
    """KAFKA-10134 and KAFKA-12890: on 2.6 and 2.7 the group is stuck."""
    driver = GroupDriver(release)
    first, second = driver.stable(None, None)
    leader, again = driver.join(first.member_id), driver.join(second.member_id)
    follower = driver.sync(again)
    assert driver.heartbeat(leader) == heartbeat
    for _ in range(20):
        driver.advance(SESSION_MS // 2)
        if driver.state != "CompletingRebalance":
            break
        driver.heartbeat(leader)
    assert follower.parked is (outcome is None)
    assert outcome is None or follower.error_code == outcome


def test_no_timer_is_left_when_all_synced() -> None:
    driver = GroupDriver(offsets_retention_check_interval_ms=10**9)
    driver.stable(None)
    assert driver.cluster.next_deadline() == NOW_MS + SESSION_MS


def test_a_group_whose_member_vanished_while_joining_goes_on() -> None:
    driver = GroupDriver(group_initial_rebalance_delay_ms=3000)
    member_id = driver.new_id()
    first = driver.join(member_id)
    driver.leave(member_id)
    assert first.error_code == E.UNKNOWN_MEMBER_ID
    assert driver.state == "PreparingRebalance"
    driver.advance(3000)
    assert (driver.state, driver.group.generation) == ("Empty", 1)


@pytest.mark.parametrize(("release", "alive"), [("3.9", True), ("4.4", False)])
def test_whether_sync_to_a_stable_group_renews_the_session(release: str, alive: bool) -> None:
    driver = GroupDriver(release)
    (only,) = driver.stable(None)
    driver.advance(SESSION_MS - 1)
    assert driver.sync(only).error_code == 0
    driver.advance(SESSION_MS - 1)
    assert (driver.heartbeat(only) == 0) is alive


def test_a_new_session_timeout_counts_from_the_next_generation(driver: GroupDriver) -> None:
    (only,) = driver.stable(None, session_ms=60_000)
    joined = driver.join(only.member_id, session_ms=6_000, protocols={"range": subscription("payments")})
    driver.sync(joined, {})
    driver.advance(6_000)
    assert driver.state == "Empty"
