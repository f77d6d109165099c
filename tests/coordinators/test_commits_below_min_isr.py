"""OffsetCommit while too few replicas of `__consumer_offsets` are in sync, as real 3.9.2 and 4.4.0 answer."""

from typing import Any

import pytest

from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.offset_commit import OffsetCommitRequestPartition
from mockbroker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitRequestTopic
from mockbroker.replication.states import FollowerState

from ..driving.cluster import Asked
from ..driving.groups import Generation, GroupDriver, replicated

KEY = ("orders", 0)
NOT_AVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE


def short(release: str, **config: Any) -> GroupDriver:
    """Of three replicas two are gone, and two have to be in sync."""
    driver = replicated(release, min_insync_replicas=2, **config)
    driver.commit({KEY: 5})
    for other in driver.others:
        driver.stop_broker(other)
    return driver


def error(asked: Asked) -> int:
    return int(asked.topics[0].partitions[0].error_code)


def back(driver: GroupDriver) -> None:
    for each in list(driver.cluster.brokers):
        driver.start_broker(each)
    driver.advance(1000)


@pytest.mark.parametrize("release", ["0.11", "2.3", "3.9"])
@pytest.mark.parametrize("version", [2, 8])
def test_the_old_coordinator_refuses_at_once(release: str, version: int) -> None:
    driver = short(release)
    assert driver.commit({KEY: 7}, version=version) == {KEY: NOT_AVAILABLE}
    back(driver)
    assert driver.offsets() == {KEY: 5}
    assert driver.commit({KEY: 7}, version=version) == {KEY: 0}
    assert driver.offsets() == {KEY: 7}


@pytest.mark.parametrize("release", ["4.0", "4.4"])
def test_the_new_coordinator_waits_first(release: str) -> None:
    driver = short(release)
    asked = driver.commit_later({KEY: 7})
    driver.advance(4_999)
    assert asked.parked
    driver.advance(1)
    assert error(asked) == NOT_AVAILABLE
    assert driver.offsets() == {KEY: 5}
    back(driver)
    assert driver.offsets() == {KEY: 7}, "it was written, and counts now"


def test_a_commit_holds_as_soon_as_enough_replicas_are_in_sync() -> None:
    driver = short("4.4")
    first, second = driver.commit_later({KEY: 7}), driver.commit_later({KEY: 8})
    back(driver)
    assert (error(first), error(second)) == (0, 0)
    assert driver.offsets() == {KEY: 8}


def test_who_waits_hears_of_a_move() -> None:
    driver = short("4.4", offsets_commit_timeout_ms=100_000)
    asked = driver.commit_later({KEY: 7})
    partition = driver.cluster.offsets_partition("g")
    partition.lose_leader()
    assert error(asked) == ErrorCode.NOT_COORDINATOR


def test_a_member_s_errors_come_first_and_nothing_to_commit_needs_no_replicas() -> None:
    driver = short("4.4")
    assert driver.commit({KEY: 1}, Generation(3, "nobody")) == {KEY: ErrorCode.UNKNOWN_MEMBER_ID}
    assert driver.commit({KEY: 7}, metadata="x" * 5000) == {KEY: ErrorCode.OFFSET_METADATA_TOO_LARGE}


@pytest.mark.parametrize(
    ("release", "short_of", "silent"),
    [("3.9", NOT_AVAILABLE, ErrorCode.REQUEST_TIMED_OUT), ("4.4", NOT_AVAILABLE, NOT_AVAILABLE)],
)
def test_offsets_of_a_transaction_wait_no_longer_than_others(
    release: str, short_of: ErrorCode, silent: ErrorCode
) -> None:
    """Silent followers that are in sync still, then too few in sync."""
    driver = replicated(release, {"transaction-verification": "none"}, min_insync_replicas=2)
    driver.set_followers(FollowerState.PAUSED)
    topic = TxnOffsetCommitRequestTopic("orders", [OffsetCommitRequestPartition(0, 7, -1, "")])
    request = TxnOffsetCommitRequest("x", "g", 1, 0, topics=[topic])
    asked = driver.ask(request, 3)
    driver.advance(4_999)
    assert asked.parked
    driver.advance(1)
    assert error(asked) == silent
    for each in driver.others:
        driver.stop_broker(each)
    asked = driver.ask(request, 3)
    driver.advance(5_000 if release == "4.4" else 0)
    assert error(asked) == short_of


def test_old_brokers_that_ask_for_fewer_acknowledgements_commit() -> None:
    driver = short("3.9", offsets_commit_required_acks=1)
    assert driver.commit({KEY: 7}) == {KEY: 0}


def unreplicated(release: str) -> tuple[GroupDriver, Asked]:
    """A stable group, and a commit of its member that no follower fetches."""
    driver = replicated(release)
    (member,) = driver.stable(None, session_ms=30_000)
    driver.set_followers(FollowerState.PAUSED)
    assert driver.commit_later({KEY: 7}, member).parked
    return driver, member


@pytest.mark.parametrize(("release", "waits"), [("3.9", False), ("4.4", True)])
@pytest.mark.parametrize("what", ["heartbeat", "leave"])
def test_who_writes_nothing_waits_for_what_was_written(release: str, waits: bool, what: str) -> None:
    driver, member = unreplicated(release)
    asked = driver.heartbeat_later(member) if what == "heartbeat" else driver.leave(member.member_id)
    assert asked.parked is waits
    driver.advance(5_000)
    assert asked.error_code == (NOT_AVAILABLE if waits else ErrorCode.NONE)


def test_who_waits_is_answered_with_what_was_written() -> None:
    driver, member = unreplicated("4.4")
    asked = driver.heartbeat_later(member)
    assert driver.heartbeat(member, member_id="nobody") == ErrorCode.UNKNOWN_MEMBER_ID, "an error is no wait"
    driver.set_followers(FollowerState.BEHIND)
    driver.advance(500)
    assert asked.error_code == ErrorCode.NONE
    assert driver.offsets() == {KEY: 7}


@pytest.mark.parametrize(
    ("release", "meanwhile", "later"),
    [("3.9", ErrorCode.UNSTABLE_OFFSET_COMMIT, ErrorCode.NONE), ("4.4", None, ErrorCode.NOT_COORDINATOR)],
)
def test_stable_offsets_wait_for_what_was_written(
    release: str, meanwhile: ErrorCode | None, later: ErrorCode
) -> None:
    driver, _ = unreplicated(release)
    assert not driver.fetch_later(KEY).parked
    asked = driver.fetch_later(KEY, stable=True)
    assert asked.parked is (meanwhile is None)
    if meanwhile is not None:
        assert asked.groups[0].topics[0].partitions[0].error_code == meanwhile
    driver.advance(5_000)
    after = asked if meanwhile is None else driver.fetch_later(KEY, stable=True)
    assert after.groups[0].error_code == later


def test_stable_offsets_are_those_that_were_waited_for() -> None:
    driver, _ = unreplicated("4.4")
    asked = driver.fetch_later(KEY, stable=True)
    driver.set_followers(FollowerState.BEHIND)
    driver.advance(500)
    assert asked.groups[0].topics[0].partitions[0].committed_offset == 7


@pytest.mark.parametrize(
    ("release", "error"), [("3.9", ErrorCode.REBALANCE_IN_PROGRESS), ("4.4", NOT_AVAILABLE)]
)
def test_a_static_member_whose_return_is_not_replicated(release: str, error: ErrorCode) -> None:
    driver = replicated(release)
    driver.stable("i", session_ms=30_000)
    driver.set_followers(FollowerState.PAUSED)
    asked = driver.join(instance="i")
    driver.advance(5_000)
    assert (asked.error_code, asked.member_id, asked.generation_id) == (error, "", 1)
    assert (asked.protocol_type, asked.protocol_name) == ("consumer", "range")
