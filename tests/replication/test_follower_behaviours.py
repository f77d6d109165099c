"""How followers fetch, truncate and fail under each answer of the behaviours that are theirs."""

from typing import Any

import pytest

from mockbroker import ConflictError, MockCluster
from mockbroker.cluster.replicas import describe
from mockbroker.protocol.errors import ErrorCode
from mockbroker.replication.states import FollowerState

from ..driving.partition import LAG_MS, PartitionDriver, outcome

DELAY_MS = 100
FETCHED, LOG_START, FOLLOWERS_END = 116_617, 116_753, 116_619
"""Of the report of KAFKA-7104."""


def kafka_7104(policies: dict[str, str], **options: Any) -> PartitionDriver:
    """A follower out of the ISR fetches two records; before the answer is made, what follows is deleted."""
    driver = PartitionDriver(policies=policies, brokers=2, retention_ms="-1", **options)
    for records in [1000] * 116 + [617]:
        driver.produce(records)
    driver.leave_behind(2)
    assert driver.partition.log.high_watermark == FOLLOWERS_END
    driver.partition.set_follower(2, FollowerState.SLOW, delay_ms=DELAY_MS)
    driver.produce(1000)
    driver.delete(LOG_START)
    assert driver.ends()[2] == FETCHED
    driver.advance(DELAY_MS)
    return driver


@pytest.mark.parametrize("kafka", ["0.11", "4.4"])
def test_a_log_start_offset_past_the_data_stops_the_follower(kafka: str) -> None:
    driver = kafka_7104({"fetch-log-start-offset": "live"}, kafka=kafka)
    follower = describe(driver.partition)[1]
    assert follower.state == "failed"
    assert str(LOG_START) in follower.failure
    assert f"high watermark {FOLLOWERS_END}" in follower.failure
    assert (follower.log_end_offset, follower.high_watermark) == (FOLLOWERS_END, FOLLOWERS_END)
    driver.produce(5)
    driver.advance(10 * LAG_MS)
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert describe(driver.partition)[1] == follower, "it stays dead"
    assert driver.partition.isr == [1]


@pytest.mark.parametrize(
    "policies",
    [
        {"fetch-log-start-offset": "of-read"},
        {"fetch-log-start-offset": "live", "follower-log-start-offset": "bounded"},
    ],
    ids=["of-read", "bounded"],
)
def test_with_either_fix_the_follower_begins_again_and_catches_up(policies: dict[str, str]) -> None:
    driver = kafka_7104(policies)
    follower = driver.partition.followers[2]
    assert follower.log.end_offset == FOLLOWERS_END
    bounded = "follower-log-start-offset" in policies
    assert follower.log.start_offset == (FOLLOWERS_END if bounded else 0)
    driver.advance(DELAY_MS)
    assert (follower.log.start_offset, follower.log.end_offset) == (LOG_START, LOG_START)
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert describe(driver.partition)[1].state == "in step"
    assert driver.partition.isr == [1, 2]
    assert driver.ends()[1] == driver.ends()[2]


@pytest.mark.parametrize(("kafka", "thread"), [("2.2", True), ("2.3", False)])
def test_a_failure_stops_the_thread_or_the_partition(kafka: str, thread: bool) -> None:
    driver = PartitionDriver(
        policies={"fetch-log-start-offset": "live"}, kafka=kafka, brokers=2, retention_ms="-1"
    )
    same, opposite = driver.cluster.create_topic("u", [[1, 2], [2, 1]]).partitions
    driver.produce(10)
    driver.leave_behind(2, records=1)
    driver.partition.set_follower(2, FollowerState.SLOW, delay_ms=DELAY_MS)
    driver.produce(10)
    driver.delete(15)
    driver.advance(DELAY_MS)
    assert driver.state_of(2) is FollowerState.FAILED
    assert driver.state_of(2, same) is (FollowerState.FAILED if thread else FollowerState.IN_STEP)
    assert driver.state_of(1, opposite) is FollowerState.IN_STEP
    if thread:
        assert "t-0" in same.followers[2].failure
        same.lead(1)
        assert driver.state_of(2, same) is FollowerState.FAILED, "a dead thread is not started again"
    driver.partition.lead(1)
    revived = FollowerState.FAILED if thread else FollowerState.IN_STEP
    assert driver.state_of(2) is revived
    driver.stop_broker(2)
    driver.start_broker(2)
    assert driver.state_of(2) is FollowerState.IN_STEP
    assert driver.state_of(2, same) is FollowerState.IN_STEP


def after_two_fast_failovers(policies: dict[str, str]) -> PartitionDriver:
    """KIP-279: both replicas wrote behind offset 10, in epochs 1 and 2, before the first leads again."""
    driver = PartitionDriver(policies=policies, brokers=2, unclean_leader_election_enable="true")
    driver.produce(10)
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.partition.lead(1)
    for _ in range(10):
        driver.produce(1, acks=1)
    driver.advance(2 * LAG_MS)
    driver.stop_broker(1)
    assert (driver.partition.leader, driver.partition.leader_epoch) == (2, 2)
    driver.produce(5, acks=1)
    driver.stop_broker(2)
    driver.start_broker(1)
    assert (driver.partition.leader, driver.partition.leader_epoch) == (1, 4)
    driver.produce(1, acks=1)
    driver.start_broker(2)
    return driver


@pytest.mark.parametrize("answer", ["epoch", "diverging-epoch"])
def test_followers_that_truncate_by_epoch_agree(answer: str) -> None:
    driver = after_two_fast_failovers({"follower-truncation": answer})
    first, second = driver.partition.logs.values()
    assert first.end_offset == second.end_offset == 21
    assert list(map(bytes, first)) == list(map(bytes, second))
    assert driver.partition.isr == [1, 2]


@pytest.mark.parametrize("answer", ["epoch-v0", "high-watermark"])
def test_followers_that_truncate_otherwise_may_not(answer: str) -> None:
    driver = after_two_fast_failovers({"follower-truncation": answer})
    first, second = driver.partition.logs.values()
    assert first.end_offset == second.end_offset == 21
    assert list(map(bytes, first)) != list(map(bytes, second))


@pytest.mark.parametrize(("kafka", "thread"), [("0.11", True), ("1.1", True), ("2.3", False)])
def test_a_batch_from_below_the_log_end_offset_stops_the_follower(kafka: str, thread: bool) -> None:
    """After an unclean election the follower is cut at its high watermark, inside a batch of the leader."""
    policies = {"follower-truncation": "high-watermark"}
    driver = PartitionDriver(
        policies=policies, kafka=kafka, unclean_leader_election_enable="true", retention_ms="-1"
    )
    other = driver.cluster.create_topic("u", [[2, 1]]).partitions[0]
    driver.produce(1)
    driver.leave_behind(2, 3, records=1)
    driver.stop_broker(1)
    driver.produce(3, acks=1, broker=2)
    driver.start_broker(1)
    cut = describe(driver.partition)[0]
    assert (cut.state, cut.log_end_offset) == ("failed", 2)
    assert "from 1 on, below its log end offset 2" in cut.failure
    assert driver.state_of(1, other) is (FollowerState.FAILED if thread else FollowerState.IN_STEP)


@pytest.mark.parametrize(("offset", "state"), [(1, "failed"), (3, "in step")])
def test_what_deletion_leaves_of_a_batch_and_a_tail_of_its_own(offset: int, state: str) -> None:
    """The epoch of the tail is below the first that the leader knows, and ends there as it says (KAFKA-7415):
    the follower cuts nothing, and is sent the batch in whose middle it ends."""
    driver = PartitionDriver(retention_ms="-1")
    driver.cut_off(1)
    driver.produce(1, acks=1)
    driver.advance(LAG_MS)
    driver.produce(3)
    driver.delete(offset)
    driver.rejoin(1)
    assert describe(driver.partition)[0].state == state


def test_truncation_to_the_high_watermark_loses_what_was_acknowledged() -> None:
    """KIP-101: a follower that restarts forgets what it has not heard to be committed, then leads."""
    for answer, kept in (("high-watermark", 10), ("diverging-epoch", 11)):
        driver = PartitionDriver(
            policies={"follower-truncation": answer}, brokers=2, unclean_leader_election_enable="true"
        )
        driver.produce(10)
        driver.partition.at_leader.tell_followers()
        assert outcome(driver.produce(1)) == (0, 10)
        driver.partition.logs[2].high_watermark = 10
        driver.partition.followers[2].cut = False
        driver.partition.set_follower(2, FollowerState.SLOW, delay_ms=DELAY_MS)
        driver.stop_broker(1)
        assert driver.partition.leader == 2
        assert driver.partition.log.end_offset == kept


@pytest.mark.parametrize(("answer", "stuck"), [("kept", True), ("dropped", False)])
def test_two_elections_without_writes(answer: str, stuck: bool) -> None:
    """KAFKA-10706: the follower led epoch 2 and wrote nothing; its leader knows epoch 1, it does not."""
    policies = {"follower-truncation": "epoch", "empty-epochs": answer}
    driver = PartitionDriver(policies=policies, brokers=2, unclean_leader_election_enable="true")
    driver.produce(10)
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.partition.lead(1)
    driver.produce(2, acks=1)
    driver.advance(2 * LAG_MS)
    driver.stop_broker(1)
    assert describe(driver.partition)[1].epochs == ((0, 0), (2, 10))
    driver.cluster.network.cut_off(2, [1], from_controller=True)
    driver.advance(LAG_MS)
    driver.start_broker(1)
    driver.rejoin(2)
    follower = describe(driver.partition)[1]
    assert follower.state == ("failed" if stuck else "in step")
    assert ("KAFKA-10706" in follower.failure) is stuck
    assert (2 in driver.partition.isr) is not stuck


@pytest.mark.parametrize(("answer", "enters"), [("high-watermark", True), ("leader-epoch", False)])
def test_a_follower_below_the_leader_epoch_and_the_isr(answer: str, enters: bool) -> None:
    """KAFKA-7128: the new leader has not heard the last high watermark."""
    driver = PartitionDriver(policies={"isr-entry": answer})
    driver.partition.set_follower(3, FollowerState.PAUSED)
    driver.produce(4)
    driver.advance(2 * LAG_MS)
    assert driver.partition.isr == [1, 2]
    driver.partition.logs[2].high_watermark = 0
    driver.partition.lead(2)
    driver.partition.set_follower(1, FollowerState.PAUSED)
    driver.partition.log.high_watermark = 0
    driver.partition.at_leader.follower_fetched(3, 0, 0)
    assert (3 in driver.partition.isr) is enters


@pytest.mark.parametrize(("answer", "online"), [("halts", False), ("truncates", True)])
def test_a_follower_that_is_ahead_of_its_leader(answer: str, online: bool) -> None:
    driver = PartitionDriver(
        policies={"follower-ahead": answer, "follower-truncation": "high-watermark"}, brokers=2
    )
    for _ in range(5):
        driver.produce(2)
    driver.partition.set_follower(2, FollowerState.PAUSED)
    own = driver.partition.logs[2]
    own.high_watermark = 10
    driver.partition.log.truncate(6)
    driver.partition.set_follower(2, FollowerState.BEHIND)
    driver.advance(1)
    assert driver.cluster.brokers[2].online is online
    assert own.end_offset == (6 if online else 10)


@pytest.mark.parametrize(("answer", "acknowledged"), [("counted", True), ("ignored", False)])
def test_a_diverging_fetch_and_the_high_watermark(answer: str, acknowledged: bool) -> None:
    """KAFKA-13141: a fetch beyond where the logs part, which the leader answers with the diverging epoch."""
    driver = PartitionDriver(policies={"diverging-fetch": answer}, brokers=2)
    driver.produce(3)
    driver.partition.lead(1)
    driver.partition.set_follower(2, FollowerState.EXTERNAL)
    asked = driver.produce(3)
    diverging = driver.read(6, replica=2, last_epoch=0, log_start=0).diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (0, 3)
    assert (driver.partition.log.high_watermark == 6) is acknowledged
    assert asked.parked is not acknowledged


def test_a_slow_follower_is_late_and_then_rests() -> None:
    driver = PartitionDriver(brokers=2)
    driver.partition.set_follower(2, FollowerState.SLOW, delay_ms=DELAY_MS)
    asked = driver.produce(3)
    driver.advance(DELAY_MS - 1)
    assert asked.parked
    driver.advance(5 * DELAY_MS)
    assert outcome(asked) == (0, 0)
    assert driver.ends() == {1: 3, 2: 3}
    driver.advance(100 * LAG_MS)
    assert driver.partition.isr == [1, 2]
    assert (driver.cluster.next_deadline() or driver.cluster.now_ms + 1) > driver.cluster.now_ms
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert driver.state_of(2) is FollowerState.IN_STEP


def test_an_unknown_follower_error_is_not_hidden() -> None:
    driver = PartitionDriver(brokers=2)
    driver.partition.set_follower(9, FollowerState.PAUSED)
    assert driver.read(0, replica=9).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_fetcher_that_is_made_to_die_over_the_api() -> None:
    with MockCluster(
        kafka="2.2", brokers=2, config={"default.replication.factor": "2"}, topics={"t": 2}
    ) as cluster:
        cluster.fail_follower("t", 0, 2)
        assert cluster.replicas("t", 0)[1].state == "failed"
        with pytest.raises(ConflictError, match="stays dead until"):
            cluster.resume_follower("t", 0, 2)
        assert cluster.replicas("t", 0)[1].failure == "failed by the test"
        cluster.stop_broker(2)
        cluster.start_broker(2)
        assert cluster.replicas("t", 0)[1].state == "in step"
        with pytest.raises(KeyError):
            cluster.fail_follower("t", 0, 1)
