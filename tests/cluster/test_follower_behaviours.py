"""How followers fetch, truncate and fail under each answer of the behaviours that are theirs."""

from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.cluster import connectivity, controller
from mockbroker.cluster.follower import FollowerState
from mockbroker.cluster.replicas import describe
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic

from .lab import LAG_MS, Lab, outcome

DELAY_MS = 100
FETCHED, LOG_START, FOLLOWERS_END = 116_617, 116_753, 116_619
"""Of the report of KAFKA-7104."""


def kafka_7104(policies: dict[str, str], **options: Any) -> Lab:
    """A follower out of the ISR fetches two records; before the answer is made, what follows is deleted."""
    lab = Lab(policies, brokers=2, retention_ms="-1", **options)
    for records in [1000] * 116 + [617]:
        lab.produce(records)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(2, acks=1)
    lab.pass_time(2 * LAG_MS)
    assert lab.partition.isr == [1]
    assert lab.partition.log.high_watermark == FOLLOWERS_END
    lab.partition.set_follower(2, FollowerState.SLOW, delay_ms=DELAY_MS)
    lab.produce(1000)
    lab.delete(LOG_START)
    assert lab.ends()[2] == FETCHED
    lab.pass_time(DELAY_MS)
    return lab


@pytest.mark.parametrize("kafka", ["0.11", "4.4"])
def test_a_log_start_offset_past_the_data_stops_the_follower(kafka: str) -> None:
    lab = kafka_7104({"fetch-log-start-offset": "live"}, kafka=kafka)
    follower = describe(lab.partition)[1]
    assert follower.state == "failed"
    assert str(LOG_START) in follower.failure
    assert f"high watermark {FOLLOWERS_END}" in follower.failure
    assert (follower.log_end_offset, follower.high_watermark) == (FOLLOWERS_END, FOLLOWERS_END)
    lab.produce(5)
    lab.pass_time(10 * LAG_MS)
    lab.partition.set_follower(2, FollowerState.BEHIND)
    assert describe(lab.partition)[1] == follower, "it stays dead"
    assert lab.partition.isr == [1]


@pytest.mark.parametrize(
    "policies",
    [
        {"fetch-log-start-offset": "of-read"},
        {"fetch-log-start-offset": "live", "follower-log-start-offset": "bounded"},
    ],
    ids=["of-read", "bounded"],
)
def test_with_either_fix_the_follower_begins_again_and_catches_up(policies: dict[str, str]) -> None:
    lab = kafka_7104(policies)
    follower = lab.partition.followers[2]
    assert follower.log.end_offset == FOLLOWERS_END
    bounded = "follower-log-start-offset" in policies
    assert follower.log.start_offset == (FOLLOWERS_END if bounded else 0)
    lab.pass_time(DELAY_MS)
    assert (follower.log.start_offset, follower.log.end_offset) == (LOG_START, LOG_START)
    lab.partition.set_follower(2, FollowerState.BEHIND)
    assert describe(lab.partition)[1].state == "in step"
    assert lab.partition.isr == [1, 2]
    assert lab.ends()[1] == lab.ends()[2]


@pytest.mark.parametrize(("kafka", "thread"), [("2.2", True), ("2.3", False)])
def test_a_failure_stops_the_thread_or_the_partition(kafka: str, thread: bool) -> None:
    lab = Lab({"fetch-log-start-offset": "live"}, kafka=kafka, brokers=2, retention_ms="-1")
    same, opposite = lab.cluster.create_topic("u", [[1, 2], [2, 1]]).partitions
    lab.produce(10)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(1, acks=1)
    lab.pass_time(2 * LAG_MS)
    lab.partition.set_follower(2, FollowerState.SLOW, delay_ms=DELAY_MS)
    lab.produce(10)
    lab.delete(15)
    lab.pass_time(DELAY_MS)
    assert lab.state_of(2) is FollowerState.FAILED
    assert lab.state_of(2, same) is (FollowerState.FAILED if thread else FollowerState.IN_STEP)
    assert lab.state_of(1, opposite) is FollowerState.IN_STEP
    if thread:
        assert "t-0" in same.followers[2].failure
        same.lead(1)
        assert lab.state_of(2, same) is FollowerState.FAILED, "a dead thread is not started again"
    lab.partition.lead(1)
    revived = FollowerState.FAILED if thread else FollowerState.IN_STEP
    assert lab.state_of(2) is revived
    controller.stop_broker(lab.cluster, 2)
    controller.start_broker(lab.cluster, 2)
    assert lab.state_of(2) is FollowerState.IN_STEP
    assert lab.state_of(2, same) is FollowerState.IN_STEP


def after_two_fast_failovers(policies: dict[str, str]) -> Lab:
    """KIP-279: both replicas wrote behind offset 10, in epochs 1 and 2, before the first leads again."""
    lab = Lab(policies, brokers=2, unclean_leader_election_enable="true")
    lab.produce(10)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.partition.lead(1)
    for _ in range(10):
        lab.produce(1, acks=1)
    lab.pass_time(2 * LAG_MS)
    controller.stop_broker(lab.cluster, 1)
    assert (lab.partition.leader, lab.partition.leader_epoch) == (2, 2)
    lab.produce(5, acks=1)
    controller.stop_broker(lab.cluster, 2)
    controller.start_broker(lab.cluster, 1)
    assert (lab.partition.leader, lab.partition.leader_epoch) == (1, 4)
    lab.produce(1, acks=1)
    controller.start_broker(lab.cluster, 2)
    return lab


@pytest.mark.parametrize("answer", ["epoch", "diverging-epoch"])
def test_followers_that_truncate_by_epoch_agree(answer: str) -> None:
    lab = after_two_fast_failovers({"follower-truncation": answer})
    first, second = lab.partition.logs.values()
    assert first.end_offset == second.end_offset == 21
    assert list(map(bytes, first)) == list(map(bytes, second))
    assert lab.partition.isr == [1, 2]


@pytest.mark.parametrize("answer", ["epoch-v0", "high-watermark"])
def test_followers_that_truncate_otherwise_may_not(answer: str) -> None:
    lab = after_two_fast_failovers({"follower-truncation": answer})
    first, second = lab.partition.logs.values()
    assert first.end_offset == second.end_offset == 21
    assert list(map(bytes, first)) != list(map(bytes, second))


@pytest.mark.parametrize(("kafka", "thread"), [("0.11", True), ("1.1", True), ("2.3", False)])
def test_a_batch_from_below_the_log_end_offset_stops_the_follower(kafka: str, thread: bool) -> None:
    """After an unclean election the follower is cut at its high watermark, inside a batch of the leader."""
    policies = {"follower-truncation": "high-watermark"}
    lab = Lab(policies, kafka=kafka, unclean_leader_election_enable="true", retention_ms="-1")
    other = lab.cluster.create_topic("u", [[2, 1]]).partitions[0]
    lab.produce(1)
    for follower in (2, 3):
        lab.partition.set_follower(follower, FollowerState.PAUSED)
    lab.produce(1, acks=1)
    lab.pass_time(2 * LAG_MS)
    controller.stop_broker(lab.cluster, 1)
    lab.produce(3, acks=1, broker=2)
    controller.start_broker(lab.cluster, 1)
    cut = describe(lab.partition)[0]
    assert (cut.state, cut.log_end_offset) == ("failed", 2)
    assert "from 1 on, below its log end offset 2" in cut.failure
    assert lab.state_of(1, other) is (FollowerState.FAILED if thread else FollowerState.IN_STEP)


@pytest.mark.parametrize(("offset", "state"), [(1, "failed"), (3, "in step")])
def test_what_deletion_leaves_of_a_batch_and_a_tail_of_its_own(offset: int, state: str) -> None:
    """The epoch of the tail is below the first that the leader knows, and ends there as it says (KAFKA-7415):
    the follower cuts nothing, and is sent the batch in whose middle it ends."""
    lab = Lab(retention_ms="-1")
    connectivity.cut_off(lab.cluster, 1, lab.cluster.brokers, from_controller=True)
    lab.produce(1, acks=1)
    lab.pass_time(LAG_MS)
    lab.produce(3)
    lab.delete(offset)
    connectivity.rejoin(lab.cluster, 1)
    assert describe(lab.partition)[0].state == state


def test_truncation_to_the_high_watermark_loses_what_was_acknowledged() -> None:
    """KIP-101: a follower that restarts forgets what it has not heard to be committed, then leads."""
    for answer, kept in (("high-watermark", 10), ("diverging-epoch", 11)):
        lab = Lab({"follower-truncation": answer}, brokers=2, unclean_leader_election_enable="true")
        lab.produce(10)
        lab.partition.tell_followers()
        assert outcome(lab.produce(1)[0]) == (0, 10)
        lab.partition.logs[2].high_watermark = 10
        lab.partition.set_follower(2, FollowerState.OFFLINE)
        lab.partition.set_follower(2, FollowerState.SLOW, delay_ms=DELAY_MS)
        controller.stop_broker(lab.cluster, 1)
        assert lab.partition.leader == 2
        assert lab.partition.log.end_offset == kept


@pytest.mark.parametrize(("answer", "stuck"), [("kept", True), ("dropped", False)])
def test_two_elections_without_writes(answer: str, stuck: bool) -> None:
    """KAFKA-10706: the follower led epoch 2 and wrote nothing; its leader knows epoch 1, it does not."""
    policies = {"follower-truncation": "epoch", "empty-epochs": answer}
    lab = Lab(policies, brokers=2, unclean_leader_election_enable="true")
    lab.produce(10)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.partition.lead(1)
    lab.produce(2, acks=1)
    lab.pass_time(2 * LAG_MS)
    controller.stop_broker(lab.cluster, 1)
    assert describe(lab.partition)[1].epochs == ((0, 0), (2, 10))
    connectivity.cut_off(lab.cluster, 2, [1], from_controller=True)
    lab.pass_time(LAG_MS)
    controller.start_broker(lab.cluster, 1)
    connectivity.rejoin(lab.cluster, 2)
    follower = describe(lab.partition)[1]
    assert follower.state == ("failed" if stuck else "in step")
    assert ("KAFKA-10706" in follower.failure) is stuck
    assert (2 in lab.partition.isr) is not stuck


@pytest.mark.parametrize(("answer", "enters"), [("high-watermark", True), ("leader-epoch", False)])
def test_a_follower_below_the_leader_epoch_and_the_isr(answer: str, enters: bool) -> None:
    """KAFKA-7128: the new leader has not heard the last high watermark."""
    lab = Lab({"isr-entry": answer})
    lab.partition.set_follower(3, FollowerState.PAUSED)
    lab.produce(4)
    lab.pass_time(2 * LAG_MS)
    assert lab.partition.isr == [1, 2]
    lab.partition.logs[2].high_watermark = 0
    lab.partition.lead(2)
    lab.partition.set_follower(1, FollowerState.PAUSED)
    lab.partition.log.high_watermark = 0
    lab.partition.follower_fetched(3, 0, 0)
    assert (3 in lab.partition.isr) is enters


@pytest.mark.parametrize(("answer", "online"), [("halts", False), ("truncates", True)])
def test_a_follower_that_is_ahead_of_its_leader(answer: str, online: bool) -> None:
    lab = Lab({"follower-ahead": answer, "follower-truncation": "high-watermark"}, brokers=2)
    for _ in range(5):
        lab.produce(2)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    own = lab.partition.logs[2]
    own.high_watermark = 10
    lab.partition.log.truncate(6)
    lab.partition.set_follower(2, FollowerState.BEHIND)
    lab.pass_time(1)
    assert lab.cluster.brokers[2].online is online
    assert own.end_offset == (6 if online else 10)


@pytest.mark.parametrize(("answer", "acknowledged"), [("counted", True), ("ignored", False)])
def test_a_diverging_fetch_and_the_high_watermark(answer: str, acknowledged: bool) -> None:
    """KAFKA-13141: a fetch beyond where the logs part, which the leader answers with the diverging epoch."""
    lab = Lab({"diverging-fetch": answer}, brokers=2)
    lab.produce(3)
    lab.partition.lead(1)
    lab.partition.set_follower(2, FollowerState.EXTERNAL)
    _, later = lab.produce(3)
    asked = FetchPartition(0, -1, 6, 0, 0, 1 << 20)
    request = FetchRequest(replica_id=2, topics=[FetchTopic(topic="t", partitions=[asked])])
    answered, _ = lab.ask(ApiKey.FETCH, 12, request)
    diverging = answered.responses[0].partitions[0].diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (0, 3)
    assert (lab.partition.log.high_watermark == 6) is acknowledged
    assert bool(later) is acknowledged


def test_a_slow_follower_is_late_and_then_rests() -> None:
    lab = Lab(brokers=2)
    lab.partition.set_follower(2, FollowerState.SLOW, delay_ms=DELAY_MS)
    _, later = lab.produce(3)
    lab.pass_time(DELAY_MS - 1)
    assert later == []
    lab.pass_time(5 * DELAY_MS)
    assert outcome(later[0]) == (0, 0)
    assert lab.ends() == {1: 3, 2: 3}
    lab.pass_time(100 * LAG_MS)
    assert lab.partition.isr == [1, 2]
    assert (lab.cluster.next_deadline() or lab.cluster.now_ms + 1) > lab.cluster.now_ms
    lab.partition.set_follower(2, FollowerState.BEHIND)
    assert lab.state_of(2) is FollowerState.IN_STEP


def test_an_unknown_follower_error_is_not_hidden() -> None:
    lab = Lab(brokers=2)
    lab.partition.set_follower(9, FollowerState.PAUSED)
    assert lab.fetch(0, replica=9).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_fetcher_that_is_made_to_die_over_the_api() -> None:
    with MockCluster(
        kafka="2.2", brokers=2, config={"default.replication.factor": "2"}, topics={"t": 2}
    ) as cluster:
        cluster.fail_follower("t", 0, 2)
        assert cluster.replicas("t", 0)[1].state == "failed"
        cluster.resume_follower("t", 0, 2)
        assert cluster.replicas("t", 0)[1].failure == "failed by the test"
        cluster.stop_broker(2)
        cluster.start_broker(2)
        assert cluster.replicas("t", 0)[1].state == "in step"
        with pytest.raises(KeyError):
            cluster.fail_follower("t", 0, 1)
