"""Brokers that are cut off: from the controller, from each other, and back."""

from collections.abc import Callable

import pytest

from mockbroker.cluster.processes import Processes
from mockbroker.cluster.replicas import describe
from mockbroker.protocol.errors import ErrorCode
from mockbroker.replication.states import FollowerState

from ..driving.partition import LAG_MS, PartitionDriver, outcome

SESSION_MS = 9_000
BEFORE_2_8_MS = 18_000


def is_back(driver: PartitionDriver, broker: int) -> bool:
    """Whether a broker runs, and has registered."""
    found = driver.cluster.brokers[broker]
    return found.online and not found.fenced


def test_a_leader_that_is_cut_off_goes_on_leading_those_who_reach_it(driver: PartitionDriver) -> None:
    driver.produce(4)
    driver.cut_off(1)
    assert driver.leader_told_by(2) == (1, 0), "its session is not over yet"
    driver.advance(SESSION_MS)
    assert driver.leader_told_by(2) == driver.leader_told_by(3) == (2, 1)
    assert driver.leader_told_by(1) == (1, 0)
    assert driver.partition.isr == [2, 3]
    assert outcome(driver.produce(1, acks=1, broker=1)) == (0, 4)
    assert outcome(driver.produce(3, broker=2)) == (0, 4)
    assert driver.read(4, broker=1, epoch=0).high_watermark == 4
    assert driver.read(6, broker=1, epoch=0).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert driver.read(4, broker=1, epoch=1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert driver.read(4, broker=2, epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH
    assert describe(driver.partition)[0].state == "cut off"

    driver.rejoin(1)
    assert driver.leader_told_by(1) == (2, 1)
    assert driver.partition.isr == [1, 2, 3]
    first, second, _ = driver.partition.logs.values()
    assert list(map(bytes, first)) == list(map(bytes, second)), "its own tail is gone"
    assert driver.read(4, broker=1, epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH


def test_acks_all_waits_in_vain_at_a_leader_that_is_cut_off(driver: PartitionDriver) -> None:
    driver.cut_off(1)
    before = driver.produce(1, timeout_ms=SESSION_MS * 2)
    driver.advance(SESSION_MS)
    after = driver.produce(1, timeout_ms=LAG_MS * 4, broker=1)
    assert before.parked, "nobody told this broker of the other leader"
    driver.advance(SESSION_MS)
    assert outcome(before) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert after.parked
    driver.rejoin(1)
    assert outcome(after) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 1)


def test_a_broker_that_is_back_in_time_leads_on(driver: PartitionDriver) -> None:
    driver.cut_off(1)
    asked = driver.produce(2)
    driver.advance(SESSION_MS - 1)
    driver.rejoin(1)
    assert outcome(asked) == (0, 0)
    driver.advance(10 * SESSION_MS)
    assert driver.leader_told_by(3) == (1, 0)
    assert driver.partition.isr == [1, 2, 3]


def test_what_a_leader_wrote_while_it_was_cut_off_is_not_committed_when_it_is_back() -> None:
    """Its followers were late as it knew them; that is over."""
    driver = PartitionDriver(config={"replica.lag.time.max.ms": "1000"})
    driver.cut_off(1)
    driver.advance(SESSION_MS)
    driver.produce(2, acks=1, broker=1)
    assert outcome(driver.produce(1)) == (0, 0)
    driver.kill_broker(2)
    driver.rejoin(1)
    driver.advance(SESSION_MS - 1)
    assert (driver.leader_told_by(1), driver.ends()[1]) == ((2, 1), 2)
    assert describe(driver.partition)[0].high_watermark == 0
    driver.advance(1)
    assert driver.leader_told_by(1) == (3, 2)
    assert driver.ends()[1] == 1


@pytest.mark.parametrize("others", [(2, 3), ()], ids=["from all", "from the controller"])
def test_a_leader_that_is_cut_off_hears_late_that_its_epoch_was_bumped(others: tuple[int, ...]) -> None:
    """With ZooKeeper that happens when a follower goes. What is in its ISR stays as it knows it."""
    driver = PartitionDriver(kafka="2.3", retention_ms="-1")
    driver.produce(1)
    driver.cluster.network.cut_off(1, others, from_controller=True)
    driver.stop_broker(3)
    assert (driver.leader_told_by(1), driver.leader_told_by(2)) == ((1, 0), (1, 1))
    asked = driver.produce(1)
    assert asked.parked
    assert driver.read(0, broker=1, epoch=1).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert driver.ends() == {1: 2, 2: 1, 3: 1}
    driver.rejoin(1)
    assert outcome(asked) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, 1)
    assert driver.leader_told_by(1) == (1, 1)
    assert outcome(driver.produce(1)) == (0, 2)
    assert driver.ends() == {1: 3, 2: 3, 3: 1}
    assert describe(driver.partition)[0].epochs == describe(driver.partition)[1].epochs == ((0, 0), (1, 2))


def test_old_releases_wait_for_the_session_of_zookeeper() -> None:
    driver = PartitionDriver(kafka="2.5")
    driver.cut_off(1)
    driver.advance(BEFORE_2_8_MS - 1)
    assert driver.leader_told_by(2)[0] == 1
    driver.advance(1)
    assert driver.leader_told_by(2)[0] == 2


def test_a_follower_cut_off_from_its_leader_leaves_the_isr_until_it_is_back(driver: PartitionDriver) -> None:
    driver.cluster.network.cut_off(3, [1], from_controller=False)
    assert driver.state_of(3) is FollowerState.CUT_OFF
    asked = driver.produce(2)
    driver.advance(2 * LAG_MS)
    assert outcome(asked) == (0, 0)
    assert driver.partition.isr == [1, 2]
    driver.partition.set_follower(3, FollowerState.BEHIND)
    assert driver.ends()[3] == 0, "it still can't"
    driver.partition.lead(2)
    assert driver.ends()[3] == 2, "it reaches this one"
    assert driver.partition.isr == [1, 2, 3]
    driver.partition.lead(1)
    assert driver.state_of(3) is FollowerState.CUT_OFF
    driver.rejoin(3)
    assert driver.state_of(3) is FollowerState.IN_STEP


def test_a_follower_cut_off_from_the_controller_alone_follows_until_the_leader_changes() -> None:
    driver = PartitionDriver()
    driver.cluster.network.cut_off(3, [], from_controller=True)
    driver.advance(SESSION_MS)
    assert driver.partition.isr == [1, 2]
    assert outcome(driver.produce(2)) == (0, 0)
    assert driver.ends()[3] == 2
    assert driver.partition.isr == [1, 2], "the controller has fenced it"
    driver.partition.lead(2)
    driver.produce(1)
    assert driver.ends()[3] == 2
    assert driver.leader_told_by(3) == (1, 0)
    driver.rejoin(3)
    assert driver.ends()[3] == 3
    assert driver.partition.isr == [1, 2, 3]


@pytest.mark.parametrize(("answer", "same"), [("goes-on", False), ("truncates", True)])
def test_a_missed_epoch(answer: str, same: bool) -> None:
    """KAFKA-7164: 3 goes on from a leader that lost its tail meanwhile."""
    driver = PartitionDriver(
        policies={"missed-epoch": answer, "follower-truncation": "epoch"},
        unclean_leader_election_enable="true",
    )
    driver.produce(4)
    driver.cluster.network.cut_off(2, [1], from_controller=False)
    driver.cluster.network.cut_off(3, [], from_controller=True)
    driver.produce(3, acks=1)
    assert driver.ends() == {1: 7, 2: 4, 3: 7}
    driver.partition.change(isr=[2])
    driver.partition.lead(2)
    driver.produce(5, acks=1)
    driver.rejoin(2)
    driver.advance(1)
    driver.partition.lead(1)
    driver.produce(1, acks=1)
    driver.rejoin(3)
    first, third = driver.partition.logs[1], driver.partition.logs[3]
    assert first.end_offset == 10
    assert (list(map(bytes, first)) == list(map(bytes, third))) is same


def test_the_others_are_not_disturbed_by_a_cut_twice(driver: PartitionDriver) -> None:
    driver.cut_off(1)
    driver.cut_off(1)
    with pytest.raises(KeyError):
        driver.cut_off(9)
    driver.advance(SESSION_MS)
    assert driver.leader_told_by(2) == (2, 1)
    driver.rejoin(1)
    driver.rejoin(1)
    assert driver.partition.isr == [1, 2, 3]


def test_a_broker_that_died_meanwhile_is_back_once_it_is_started(driver: PartitionDriver) -> None:
    driver.cut_off(1)
    driver.kill_broker(1)
    driver.advance(2 * SESSION_MS)
    driver.rejoin(1)
    assert not is_back(driver, 1)
    driver.start_broker(1)
    assert is_back(driver, 1)
    driver.advance(LAG_MS)
    assert driver.partition.isr == [1, 2, 3]


def test_a_broker_that_died_while_it_was_cut_off_has_one_session(driver: PartitionDriver) -> None:
    """It began when the controller last heard of it; the broker that is back has another."""
    driver.cut_off(1)
    driver.advance(SESSION_MS // 2)
    driver.kill_broker(1)
    driver.advance(SESSION_MS // 2)
    assert driver.leader_told_by(2)[0] == 2
    driver.rejoin(1)
    driver.start_broker(1)
    assert driver.partition.isr == [1, 2, 3]
    driver.advance(SESSION_MS)
    assert is_back(driver, 1)
    assert driver.partition.isr == [1, 2, 3]


def test_a_broker_that_died_while_it_was_cut_off_is_missed_though_it_is_reached_again() -> None:
    driver = PartitionDriver()
    driver.cut_off(1)
    driver.kill_broker(1)
    driver.rejoin(1)
    driver.start_broker(1)
    assert not is_back(driver, 1)
    driver.advance(SESSION_MS - 1)
    assert driver.leader_told_by(2) == (1, 0)
    driver.advance(1)
    assert driver.leader_told_by(2) == (2, 1)
    assert driver.partition.isr == [1, 2, 3]


@pytest.mark.parametrize(
    ("end", "offset"), [(Processes.stop, 0), (Processes.kill, 3)], ids=["stopped", "killed"]
)
@pytest.mark.parametrize("killed_again", [False, True])
def test_a_broker_that_waits_to_register_knows_how_it_went(
    end: Callable[..., None], offset: int, killed_again: bool
) -> None:
    """One that was shut down left a snapshot of all its producers; one that was killed, of none up to the log
    start offset."""
    driver = PartitionDriver(replicas=[1])
    driver.produce(1, producer_id=7)
    driver.partition.log.segments.roll(1, driver.now_ms)
    driver.produce(1)
    driver.produce(1)
    driver.delete(2)
    driver.cut_off(1)
    end(driver.cluster.processes, 1)
    driver.start_broker(1)
    if killed_again:
        driver.kill_broker(1)
    driver.advance(SESSION_MS)
    driver.rejoin(1)
    driver.start_broker(1)
    assert is_back(driver, 1)
    assert outcome(driver.produce(1, producer_id=7)) == (0, offset)


def test_a_broker_that_reaches_no_controller_does_not_come_back(driver: PartitionDriver) -> None:
    """It has to register first; the leader that it was is over with its process."""
    driver.produce(4)
    driver.cut_off(1)
    driver.kill_broker(1)
    driver.advance(2 * SESSION_MS)
    driver.start_broker(1)
    driver.advance(2 * SESSION_MS)
    assert not is_back(driver, 1)
    assert driver.leader_told_by(2)[0] == 2
    driver.rejoin(1)
    assert is_back(driver, 1)
    assert driver.leader_told_by(1) == driver.leader_told_by(2)


def test_a_follower_that_caught_up_while_it_was_fenced_joins_once_it_is_not(driver: PartitionDriver) -> None:
    """Its leader reaches it before the controller does."""
    driver.cut_off(3)
    driver.advance(SESSION_MS)
    assert driver.partition.isr == [1, 2]
    driver.rejoin(1)
    assert driver.ends()[3] == driver.partition.log.end_offset
    assert driver.partition.isr == [1, 2]
    driver.rejoin(3)
    assert driver.partition.isr == [1, 2, 3]


def test_a_replica_of_a_topic_that_was_created_meanwhile_joins_when_its_broker_is_back() -> None:
    driver = PartitionDriver()
    driver.cut_off(3)
    partition = driver.cluster.create_topic("later", [[1, 2, 3]]).partitions[0]
    driver.advance(SESSION_MS)
    assert partition.isr == [1, 2]
    driver.rejoin(3)
    assert partition.isr == [1, 2, 3]
