"""What a coordinator reads of `__consumer_offsets` when it begins to lead, and what is answered meanwhile."""

from typing import Any

import pytest

from mockbroker.controller import elections
from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.find_coordinator import FindCoordinatorRequest
from mockbroker.protocol.messages.list_groups import ListGroupsRequest
from mockbroker.protocol.messages.offset_commit import OffsetCommitRequestPartition
from mockbroker.protocol.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitRequestTopic
from mockbroker.protocol.offsets_log import Commit, commit_key, commit_value
from mockbroker.replication.internal_append import append_own
from mockbroker.replication.states import FollowerState

from ..driving.cluster import Asked
from ..driving.groups import GroupDriver, replicated

E = ErrorCode
O0, O1 = ("orders", 0), ("orders", 1)
MINUTE_MS = 60_000


def loading(kafka: str = "4.4") -> tuple[GroupDriver, Asked]:
    """A group with a member and offsets, whose coordinator has just moved, and loads slowly."""
    driver = replicated(kafka, {"offsets-load-pace": "slow"})
    (member,) = driver.stable(None)
    for offset in range(20):
        driver.commit({O0: offset}, member)
    driver.move_coordinator()
    return driver, member


def write(driver: GroupDriver, *records: tuple[bytes, bytes | None]) -> None:
    """Another writer appends to `__consumer_offsets`."""
    partition = driver.cluster.offsets_partition("g").led
    assert partition is not None
    append_own(partition, key_values(records, driver.now_ms))


def fetch_error(driver: GroupDriver, version: int) -> Any:
    answer = driver.fetch_later(O0, version=version).groups[0]
    return answer.topics[0].partitions[0].error_code if version < 2 else answer.error_code


@pytest.mark.parametrize(
    ("release", "error", "heartbeat", "sync"),
    [
        ("1.1", E.NOT_COORDINATOR, E.NOT_COORDINATOR, E.NOT_COORDINATOR),
        ("3.9", E.COORDINATOR_LOAD_IN_PROGRESS, E.NONE, E.REBALANCE_IN_PROGRESS),
        ("4.4", E.COORDINATOR_LOAD_IN_PROGRESS, E.NONE, E.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_what_is_answered_meanwhile(release: str, error: E, heartbeat: E, sync: E) -> None:
    driver, member = loading(release)
    assert driver.heartbeat(member) == heartbeat
    assert driver.sync(member).error_code == sync
    assert driver.join(member.member_id).error_code == error
    assert [fetch_error(driver, v) for v in (1, 2, 8)] == [error] * 3
    assert set(driver.commit({O0: 5}).values()) == {error}
    assert driver.describe().error_code == error
    assert driver.delete() == error
    assert driver.leave(member.member_id, version=2).error_code == error
    assert driver.ask(FindCoordinatorRequest(0, ["g"]), 4).coordinators[0].node_id == driver.broker.id
    driver.advance(MINUTE_MS)
    assert driver.offsets() == {O0: 19}
    assert driver.heartbeat(member) == E.UNKNOWN_MEMBER_ID, "its session began with the end of the load"


@pytest.mark.parametrize(
    ("release", "version", "error"),
    [
        ("2.5", 1, E.COORDINATOR_LOAD_IN_PROGRESS),
        ("2.6", 1, E.COORDINATOR_NOT_AVAILABLE),
        ("2.6", 2, E.COORDINATOR_LOAD_IN_PROGRESS),
        ("4.4", 1, E.COORDINATOR_NOT_AVAILABLE),
        ("4.4", 5, E.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_what_older_transactional_producers_are_answered_meanwhile(
    release: str, version: int, error: E
) -> None:
    """`KafkaApis.handleTxnOffsetCommitRequest`"""
    driver, _ = loading(release)
    topic = TxnOffsetCommitRequestTopic("orders", [OffsetCommitRequestPartition(0, 5)])
    answer = driver.ask(TxnOffsetCommitRequest("tx", "g", 1, 0, topics=[topic]), version)
    assert answer.topics[0].partitions[0].error_code == error


@pytest.mark.parametrize(
    ("release", "error", "listed"),
    [
        ("1.1", E.NONE, []),
        ("3.9", E.COORDINATOR_LOAD_IN_PROGRESS, []),
        ("4.4", E.COORDINATOR_LOAD_IN_PROGRESS, []),
    ],
)
def test_the_list_of_groups_meanwhile(release: str, error: E, listed: list[str]) -> None:
    driver, _ = loading(release)
    answer = driver.ask(ListGroupsRequest())
    assert (answer.error_code, [each.group_id for each in answer.groups]) == (error, listed)
    driver.advance(MINUTE_MS)
    assert driver.listed() == ["g"]


def test_sessions_begin_when_the_load_has_ended() -> None:
    driver, member = loading()
    driver.advance(2_000)
    assert driver.groups.groups == {}
    driver.advance(10_000)
    assert driver.heartbeat(member) == E.NONE
    driver.advance(9_999)
    assert driver.state == "Stable"


def test_a_load_that_is_overtaken_by_another_move() -> None:
    driver, _ = loading()
    first = driver.groups
    driver.advance(1_000)
    driver.move_coordinator()
    driver.advance(MINUTE_MS)
    assert first.groups == {}
    assert not first.shards.loading
    assert driver.offsets() == {O0: 19}


def test_a_load_whose_broker_goes_down() -> None:
    driver, _ = loading()
    down = driver.broker
    driver.stop_broker(down.id)
    driver.follow_coordinator()
    driver.advance(MINUTE_MS)
    assert driver.offsets() == {O0: 19}
    assert down.groups.groups == {}


def test_others_are_served_between_two_parts() -> None:
    driver = replicated()
    for offset in range(5_000):
        write(driver, (commit_key("g", "orders", 0), commit_value(Commit(offset, 0, "", driver.now_ms), 3)))
    driver.cluster.work.in_parts = True
    driver.move_coordinator()
    answered = 0
    while driver.cluster.work:
        assert fetch_error(driver, 8) == E.COORDINATOR_LOAD_IN_PROGRESS
        driver.cluster.work.go_on()
        answered += 1
    assert answered > 10
    assert driver.offsets() == {O0: 4_999}


@pytest.mark.parametrize("kafka", ["2.1", "2.3", "3.9", "4.0", "4.4"])
def test_the_next_coordinator_has_the_same(kafka: str) -> None:
    driver = replicated(kafka)
    joined = driver.stable(None, None)
    driver.commit({O0: 5, O1: 6}, joined[0], metadata="m")
    before, group = dict(driver.group.offsets.committed), driver.group.metadata({})
    driver.move_coordinator()
    assert driver.group.offsets.committed == before
    assert driver.group.metadata({})._replace(since_ms=0) == group._replace(since_ms=0)
    assert driver.group.subscribed == frozenset({"orders"})
    assert driver.state == "Stable"


def test_a_group_that_was_deleted_stays_deleted() -> None:
    driver = replicated("3.9")
    driver.commit({O0: 5})
    assert driver.delete() == E.NONE
    driver.move_coordinator()
    assert driver.state == "Dead"


UNREADABLE = commit_key("g", "orders", 1), b"\0\x09newer than we know"


@pytest.mark.parametrize(
    ("policies", "release", "found"),
    [
        ({}, "3.9", {}),
        ({"offsets-load": "stops"}, "3.9", {O0: 5}),
        ({"offsets-load": "stops"}, "4.4", {O0: 5}),
        ({"offsets-load": "skips"}, "4.4", {O0: 7}),
        ({"offsets-load": "loads-nothing"}, "4.4", {}),
    ],
)
def test_a_record_that_can_not_be_read(
    policies: dict[str, str], release: str, found: dict[tuple[str, int], int]
) -> None:
    driver = replicated(release, policies)
    driver.commit({O0: 5})
    write(driver, UNREADABLE)
    driver.commit({O0: 7})
    driver.move_coordinator()
    assert driver.offsets() == found
    driver.commit({O0: 8})
    assert driver.offsets() == {O0: 8}


def test_a_load_that_fails_is_tried_again_by_the_next_leader() -> None:
    driver = replicated("4.4")
    driver.commit({O0: 5})
    write(driver, UNREADABLE)
    driver.move_coordinator()
    assert fetch_error(driver, 8) == E.NOT_COORDINATOR
    write(driver, (UNREADABLE[0], None))
    driver.move_coordinator()
    assert fetch_error(driver, 8) == E.NOT_COORDINATOR, "the record is still in the log"


@pytest.mark.parametrize(("cleanup", "found"), [("after-load", {O0: 9_999}), ("during-load", {})])
def test_the_cleanup_of_expired_offsets_races_the_load(
    cleanup: str, found: dict[tuple[str, int], int]
) -> None:
    """LinkedIn's second incident: with a dead cleaner the log has commits that expired long ago."""
    driver = replicated(
        "3.9",
        {"offsets-load-pace": "slow", "offsets-cleanup": cleanup, "compaction": "dead"},
        offsets_retention_minutes=60,
        offsets_retention_check_interval_ms=MINUTE_MS,
    )
    for offset in range(1_000):
        driver.commit({O0: offset})
    driver.advance(59 * MINUTE_MS)
    driver.commit({O0: 9_999})
    driver.advance(2 * MINUTE_MS)
    driver.move_coordinator()
    driver.advance(3 * MINUTE_MS)
    assert driver.offsets() == found


@pytest.mark.parametrize(("compaction", "records"), [("runs", 1), ("dead", 30)])
def test_a_dead_cleaner_lets_the_topic_grow(compaction: str, records: int) -> None:
    driver = replicated("3.9", {"compaction": compaction}, **{"offsets.topic.segment.bytes": 14})
    for offset in range(30):
        driver.commit({O0: offset})
        driver.advance(1)
    driver.advance(10 * MINUTE_MS)
    partition = driver.cluster.offsets_partition("g").led
    assert partition is not None
    assert abs(len(list(partition.log)) - records) <= 1


def test_one_broker_loads_unlike_the_others() -> None:
    driver = replicated("3.9", {"offsets-load@broker:2": "stops", "offsets-load": "skips"})
    partition = driver.cluster.offsets_partition("g")
    if partition.leader != 1:
        assert elections.move_leader(partition, 1)
        driver.follow_coordinator()
    driver.commit({O0: 5})
    write(driver, UNREADABLE)
    driver.commit({O0: 7})
    seen = {}
    for broker in (2, 3, 2):
        assert elections.move_leader(partition, broker)
        driver.follow_coordinator()
        seen[broker] = driver.offsets()
    assert seen == {2: {O0: 5}, 3: {O0: 7}}


def test_members_are_judged_by_the_answers_of_their_coordinator() -> None:
    """`completing-heartbeat` for one broker only."""
    driver = replicated("4.4", {"completing-heartbeat@broker:2": "rebalance-in-progress"})
    partition = driver.cluster.offsets_partition("g")
    seen = {}
    for broker in (1, 2, 3):
        if partition.leader != broker:
            assert elections.move_leader(partition, broker)
        driver.follow_coordinator()
        seen[broker] = driver.heartbeat(driver.enter())
    assert seen == {1: E.NONE, 2: E.REBALANCE_IN_PROGRESS, 3: E.NONE}


@pytest.mark.parametrize(("buffers", "found"), [("merged", {O0: 9}), ("first-counts", {O0: 3})])
def test_a_log_that_is_larger_than_the_buffer(buffers: str, found: dict[tuple[str, int], int]) -> None:
    """Four commits fit."""
    driver = replicated("0.11", {"offsets-load-buffers": buffers}, offsets_load_buffer_size=500)
    for offset in range(10):
        driver.commit({O0: offset})
    driver.move_coordinator()
    assert driver.offsets() == found


@pytest.mark.parametrize(("release", "loads"), [("1.1", False), ("2.0", True), ("4.4", True)])
def test_a_group_that_is_larger_than_the_buffer(release: str, loads: bool) -> None:
    driver = replicated(release, offsets_load_buffer_size=500)
    joined = driver.stable(*[None] * 5)
    driver.move_coordinator()
    driver.advance(MINUTE_MS // 10)
    expected = E.NONE if loads else E.NOT_COORDINATOR
    assert driver.heartbeat(joined[0]) == expected
    driver.commit({O0: 5}, joined[0])
    driver.move_coordinator()
    assert driver.heartbeat(joined[0]) == expected


def behind() -> GroupDriver:
    """A coordinator whose follower has not fetched since the first of two commits."""
    driver = replicated(
        "3.9", brokers=2, unclean_leader_election_enable="true", replica_lag_time_max_ms=1_000
    )
    driver.commit({O0: 5})
    driver.set_followers(FollowerState.PAUSED)
    second = driver.commit_later({O0: 7, O1: 1})
    driver.advance(4_000)
    assert not second.parked
    assert driver.cluster.offsets_partition("g").isr == [driver.broker.id]
    return driver


def test_an_unclean_election_loses_commits_and_groups() -> None:
    driver = behind()
    driver.stable(None)
    assert driver.offsets() == {O0: 7, O1: 1}
    driver.stop_broker(driver.broker.id)
    driver.advance(20_000)
    driver.follow_coordinator()
    assert driver.offsets() == {O0: 5}
    assert driver.state == "Empty"


def test_a_leader_that_comes_back_has_what_the_next_one_had() -> None:
    driver = behind()
    first = driver.broker
    driver.stop_broker(first.id)
    driver.advance(20_000)
    driver.follow_coordinator()
    driver.commit({O1: 2})
    driver.start_broker(first.id)
    driver.advance(20_000)
    driver.move_coordinator()
    assert driver.broker is first
    assert driver.offsets() == {O0: 5, O1: 2}
