"""Brokers that are cut off: from the controller, from each other, and back."""

from collections.abc import Callable

import pytest

from mockbroker.cluster import connectivity, controller
from mockbroker.cluster.call import PARKED
from mockbroker.cluster.follower import FollowerState
from mockbroker.cluster.replicas import describe
from mockbroker.protocol.errors import ErrorCode

from .lab import LAG_MS, Lab, outcome

SESSION_MS = 9_000
BEFORE_2_8_MS = 18_000


def cut_off(lab: Lab, broker: int) -> None:
    connectivity.cut_off(lab.cluster, broker, lab.cluster.brokers, from_controller=True)


def test_a_leader_that_is_cut_off_goes_on_leading_those_who_reach_it() -> None:
    lab = Lab()
    lab.produce(4)
    cut_off(lab, 1)
    assert lab.leader_told_by(2) == (1, 0), "its session is not over yet"
    lab.pass_time(SESSION_MS)
    assert lab.leader_told_by(2) == lab.leader_told_by(3) == (2, 1)
    assert lab.leader_told_by(1) == (1, 0)
    assert lab.partition.isr == [2, 3]
    assert outcome(lab.produce(1, acks=1, broker=1)[0]) == (0, 4)
    assert outcome(lab.produce(3, broker=2)[0]) == (0, 4)
    assert lab.fetch(4, broker=1, epoch=0).high_watermark == 4
    assert lab.fetch(6, broker=1, epoch=0).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert lab.fetch(4, broker=1, epoch=1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert lab.fetch(4, broker=2, epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert describe(lab.partition)[0].state == "cut off"

    connectivity.rejoin(lab.cluster, 1)
    assert lab.leader_told_by(1) == (2, 1)
    assert lab.partition.isr == [1, 2, 3]
    first, second, _ = lab.partition.logs.values()
    assert list(map(bytes, first)) == list(map(bytes, second)), "its own tail is gone"
    assert lab.fetch(4, broker=1, epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_acks_all_waits_in_vain_at_a_leader_that_is_cut_off() -> None:
    lab = Lab()
    cut_off(lab, 1)
    answer, before = lab.produce(1, timeout_ms=SESSION_MS * 2)
    assert answer is PARKED
    lab.pass_time(SESSION_MS)
    answer, after = lab.produce(1, timeout_ms=LAG_MS * 4, broker=1)
    assert answer is PARKED
    assert before == [], "nobody told this broker of the other leader"
    lab.pass_time(SESSION_MS)
    assert outcome(before[0]) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert after == []
    connectivity.rejoin(lab.cluster, 1)
    assert outcome(after[0]) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 1)


def test_a_broker_that_is_back_in_time_leads_on() -> None:
    lab = Lab()
    cut_off(lab, 1)
    _, later = lab.produce(2)
    lab.pass_time(SESSION_MS - 1)
    connectivity.rejoin(lab.cluster, 1)
    assert outcome(later[0]) == (0, 0)
    lab.pass_time(10 * SESSION_MS)
    assert lab.leader_told_by(3) == (1, 0)
    assert lab.partition.isr == [1, 2, 3]


def test_what_a_leader_wrote_while_it_was_cut_off_is_not_committed_when_it_is_back() -> None:
    """Its followers were late as it knew them; that is over."""
    lab = Lab(config={"replica.lag.time.max.ms": "1000"})
    cut_off(lab, 1)
    lab.pass_time(SESSION_MS)
    lab.produce(2, acks=1, broker=1)
    assert outcome(lab.produce(1)[0]) == (0, 0)
    controller.kill_broker(lab.cluster, 2)
    connectivity.rejoin(lab.cluster, 1)
    lab.pass_time(SESSION_MS - 1)
    assert (lab.leader_told_by(1), lab.ends()[1]) == ((2, 1), 2)
    assert describe(lab.partition)[0].high_watermark == 0
    lab.pass_time(1)
    assert lab.leader_told_by(1) == (3, 2)
    assert lab.ends()[1] == 1


@pytest.mark.parametrize("others", [(2, 3), ()], ids=["from all", "from the controller"])
def test_a_leader_that_is_cut_off_hears_late_that_its_epoch_was_bumped(others: tuple[int, ...]) -> None:
    """With ZooKeeper that happens when a follower goes. What is in its ISR stays as it knows it."""
    lab = Lab(kafka="2.3", retention_ms="-1")
    lab.produce(1)
    connectivity.cut_off(lab.cluster, 1, others, from_controller=True)
    controller.stop_broker(lab.cluster, 3)
    assert (lab.leader_told_by(1), lab.leader_told_by(2)) == ((1, 0), (1, 1))
    answer, later = lab.produce(1)
    assert answer is PARKED
    assert lab.fetch(0, broker=1, epoch=1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert lab.ends() == {1: 2, 2: 1, 3: 1}
    connectivity.rejoin(lab.cluster, 1)
    assert outcome(later[0]) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 1)
    assert lab.leader_told_by(1) == (1, 1)
    assert outcome(lab.produce(1)[0]) == (0, 2)
    assert lab.ends() == {1: 3, 2: 3, 3: 1}
    assert describe(lab.partition)[0].epochs == describe(lab.partition)[1].epochs == ((0, 0), (1, 2))


def test_old_releases_wait_for_the_session_of_zookeeper() -> None:
    lab = Lab(kafka="2.5")
    cut_off(lab, 1)
    lab.pass_time(BEFORE_2_8_MS - 1)
    assert lab.leader_told_by(2)[0] == 1
    lab.pass_time(1)
    assert lab.leader_told_by(2)[0] == 2


def test_a_follower_cut_off_from_its_leader_leaves_the_isr_until_it_is_back() -> None:
    lab = Lab()
    connectivity.cut_off(lab.cluster, 3, [1], from_controller=False)
    assert lab.state_of(3) is FollowerState.CUT_OFF
    _, later = lab.produce(2)
    lab.pass_time(2 * LAG_MS)
    assert outcome(later[0]) == (0, 0)
    assert lab.partition.isr == [1, 2]
    lab.partition.set_follower(3, FollowerState.BEHIND)
    assert lab.ends()[3] == 0, "it still can't"
    lab.partition.lead(2)
    assert lab.ends()[3] == 2, "it reaches this one"
    assert lab.partition.isr == [1, 2, 3]
    lab.partition.lead(1)
    assert lab.state_of(3) is FollowerState.CUT_OFF
    connectivity.rejoin(lab.cluster, 3)
    assert lab.state_of(3) is FollowerState.IN_STEP


def test_a_follower_cut_off_from_the_controller_alone_follows_until_the_leader_changes() -> None:
    lab = Lab()
    connectivity.cut_off(lab.cluster, 3, [], from_controller=True)
    lab.pass_time(SESSION_MS)
    assert lab.partition.isr == [1, 2]
    assert outcome(lab.produce(2)[0]) == (0, 0)
    assert lab.ends()[3] == 2
    assert lab.partition.isr == [1, 2], "the controller has fenced it"
    lab.partition.lead(2)
    lab.produce(1)
    assert lab.ends()[3] == 2
    assert lab.leader_told_by(3) == (1, 0)
    connectivity.rejoin(lab.cluster, 3)
    assert lab.ends()[3] == 3
    assert lab.partition.isr == [1, 2, 3]


@pytest.mark.parametrize(("answer", "same"), [("goes-on", False), ("truncates", True)])
def test_a_missed_epoch(answer: str, same: bool) -> None:
    """KAFKA-7164: 3 goes on from a leader that lost its tail meanwhile."""
    lab = Lab({"missed-epoch": answer, "follower-truncation": "epoch"}, unclean_leader_election_enable="true")
    lab.produce(4)
    connectivity.cut_off(lab.cluster, 2, [1], from_controller=False)
    connectivity.cut_off(lab.cluster, 3, [], from_controller=True)
    lab.produce(3, acks=1)
    assert lab.ends() == {1: 7, 2: 4, 3: 7}
    lab.partition.isr = [2]
    lab.partition.lead(2)
    lab.produce(5, acks=1)
    connectivity.rejoin(lab.cluster, 2)
    lab.pass_time(1)
    lab.partition.lead(1)
    lab.produce(1, acks=1)
    connectivity.rejoin(lab.cluster, 3)
    first, third = lab.partition.logs[1], lab.partition.logs[3]
    assert first.end_offset == 10
    assert (list(map(bytes, first)) == list(map(bytes, third))) is same


def test_the_others_are_not_disturbed_by_a_cut_twice() -> None:
    lab = Lab()
    cut_off(lab, 1)
    cut_off(lab, 1)
    with pytest.raises(KeyError):
        cut_off(lab, 9)
    lab.pass_time(SESSION_MS)
    assert lab.leader_told_by(2) == (2, 1)
    connectivity.rejoin(lab.cluster, 1)
    connectivity.rejoin(lab.cluster, 1)
    assert lab.partition.isr == [1, 2, 3]


def test_a_broker_that_died_meanwhile_is_back_once_it_is_started() -> None:
    lab = Lab()
    cut_off(lab, 1)
    controller.kill_broker(lab.cluster, 1)
    lab.pass_time(2 * SESSION_MS)
    connectivity.rejoin(lab.cluster, 1)
    assert lab.cluster.brokers[1].gone
    controller.start_broker(lab.cluster, 1)
    assert not lab.cluster.brokers[1].gone
    lab.pass_time(LAG_MS)
    assert lab.partition.isr == [1, 2, 3]


def test_a_broker_that_died_while_it_was_cut_off_has_one_session() -> None:
    """It began when the controller last heard of it; the broker that is back has another."""
    lab = Lab()
    cut_off(lab, 1)
    lab.pass_time(SESSION_MS // 2)
    controller.kill_broker(lab.cluster, 1)
    lab.pass_time(SESSION_MS // 2)
    assert lab.leader_told_by(2)[0] == 2
    connectivity.rejoin(lab.cluster, 1)
    controller.start_broker(lab.cluster, 1)
    assert lab.partition.isr == [1, 2, 3]
    lab.pass_time(SESSION_MS)
    assert not lab.cluster.brokers[1].gone
    assert lab.partition.isr == [1, 2, 3]


def test_a_broker_that_died_while_it_was_cut_off_is_missed_though_it_is_reached_again() -> None:
    lab = Lab()
    cut_off(lab, 1)
    controller.kill_broker(lab.cluster, 1)
    connectivity.rejoin(lab.cluster, 1)
    controller.start_broker(lab.cluster, 1)
    assert lab.cluster.brokers[1].gone
    lab.pass_time(SESSION_MS - 1)
    assert lab.leader_told_by(2) == (1, 0)
    lab.pass_time(1)
    assert lab.leader_told_by(2) == (2, 1)
    assert lab.partition.isr == [1, 2, 3]


@pytest.mark.parametrize(
    ("end", "offset"), [(controller.stop_broker, 0), (controller.kill_broker, 2)], ids=["stopped", "killed"]
)
@pytest.mark.parametrize("killed_again", [False, True])
def test_a_broker_that_waits_to_register_knows_how_it_went(
    end: Callable[..., None], offset: int, killed_again: bool
) -> None:
    """One that was shut down left a snapshot of its producers, and their records may be gone."""
    lab = Lab(replicas=[1])
    lab.produce(1, producer_id=7)
    lab.produce(1)
    lab.delete(1)
    cut_off(lab, 1)
    end(lab.cluster, 1)
    controller.start_broker(lab.cluster, 1)
    if killed_again:
        controller.kill_broker(lab.cluster, 1)
    lab.pass_time(SESSION_MS)
    connectivity.rejoin(lab.cluster, 1)
    controller.start_broker(lab.cluster, 1)
    assert not lab.cluster.brokers[1].gone
    assert outcome(lab.produce(1, producer_id=7)[0]) == (0, offset)


def test_a_broker_that_reaches_no_controller_does_not_come_back() -> None:
    """It has to register first; the leader that it was is over with its process."""
    lab = Lab()
    lab.produce(4)
    cut_off(lab, 1)
    controller.kill_broker(lab.cluster, 1)
    lab.pass_time(2 * SESSION_MS)
    controller.start_broker(lab.cluster, 1)
    lab.pass_time(2 * SESSION_MS)
    assert lab.cluster.brokers[1].gone
    assert lab.leader_told_by(2)[0] == 2
    connectivity.rejoin(lab.cluster, 1)
    assert not lab.cluster.brokers[1].gone
    assert lab.leader_told_by(1) == lab.leader_told_by(2)


def test_a_follower_that_caught_up_while_it_was_fenced_joins_once_it_is_not() -> None:
    """Its leader reaches it before the controller does."""
    lab = Lab()
    cut_off(lab, 3)
    lab.pass_time(SESSION_MS)
    assert lab.partition.isr == [1, 2]
    connectivity.rejoin(lab.cluster, 1)
    assert lab.ends()[3] == lab.partition.log.end_offset
    assert lab.partition.isr == [1, 2]
    connectivity.rejoin(lab.cluster, 3)
    assert lab.partition.isr == [1, 2, 3]


def test_a_replica_of_a_topic_that_was_created_meanwhile_joins_when_its_broker_is_back() -> None:
    lab = Lab()
    cut_off(lab, 3)
    partition = lab.cluster.create_topic("later", [[1, 2, 3]]).partitions[0]
    lab.pass_time(SESSION_MS)
    assert partition.isr == [1, 2]
    connectivity.rejoin(lab.cluster, 3)
    assert partition.isr == [1, 2, 3]
