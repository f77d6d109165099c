"""Partitions that are made while brokers are down or cut off (`ReplicationControlManager.java`)."""

import pytest

from mockbroker.cluster.replicas import describe
from mockbroker.metadata.records import NO_LEADER
from mockbroker.replication.states import FollowerState

from ..driving.partition import LAG_MS, PartitionDriver, outcome

SESSION_MS = 9_000


def create_again(driver: PartitionDriver) -> None:
    """The topic is deleted and created, with replicas on all brokers."""
    driver.cluster.delete_topics([driver.cluster.topics["t"]])
    driver.partition = driver.cluster.create_topic("t", [list(driver.cluster.brokers)]).partitions[0]


def states(driver: PartitionDriver) -> list[str]:
    return [each.state for each in describe(driver.partition)]


def test_a_fenced_broker_neither_leads_nor_is_in_sync(driver: PartitionDriver) -> None:
    driver.stop_broker(1)
    create_again(driver)
    assert (driver.leader_told_by(2), driver.partition.isr) == ((2, 0), [2, 3])
    assert states(driver) == ["offline", "leader", "in step"]
    assert outcome(driver.produce(3)) == (0, 0)
    assert driver.ends() == {1: 0, 2: 3, 3: 3}
    driver.start_broker(1)
    assert driver.ends()[1] == 3
    assert driver.partition.isr == [1, 2, 3]


def test_a_follower_that_was_killed_is_waited_for_until_its_session_is_over(driver: PartitionDriver) -> None:
    driver.kill_broker(3)
    create_again(driver)
    assert (driver.partition.isr, states(driver)) == ([1, 2, 3], ["leader", "in step", "offline"])
    asked = driver.produce(2)
    assert asked.parked
    driver.advance(SESSION_MS)
    assert outcome(asked) == (0, 0)
    assert (driver.partition.isr, driver.ends()[3]) == ([1, 2], 0)


def test_a_leader_that_was_killed_leads_until_its_session_is_over(driver: PartitionDriver) -> None:
    driver.kill_broker(1)
    create_again(driver)
    assert (driver.leader_told_by(2), states(driver)) == ((1, 0), ["leader", "behind", "behind"])
    driver.advance(SESSION_MS)
    assert (driver.leader_told_by(2), states(driver)) == ((2, 1), ["offline", "leader", "in step"])


@pytest.mark.parametrize("others", [(1, 2), ()], ids=["from all", "from the controller"])
def test_a_follower_that_is_cut_off_begins_once_it_hears_of_it(others: tuple[int, ...]) -> None:
    driver = PartitionDriver()
    driver.cluster.network.cut_off(3, others, from_controller=True)
    create_again(driver)
    driver.produce(2)
    driver.advance(SESSION_MS)
    assert states(driver) == ["leader", "in step", "cut off"]
    assert (driver.partition.isr, driver.ends()[3]) == ([1, 2], 0)
    driver.rejoin(3)
    assert states(driver) == ["leader", "in step", "in step"]
    assert (driver.partition.isr, driver.ends()[3]) == ([1, 2, 3], 2)


def test_without_a_broker_that_is_not_fenced_nobody_leads() -> None:
    driver = PartitionDriver(brokers=2)
    for broker in (1, 2):
        driver.cluster.network.cut_off(broker, [], from_controller=True)
    driver.advance(SESSION_MS)
    create_again(driver)
    assert driver.partition.leader == NO_LEADER
    driver.rejoin(2)
    assert driver.leader_told_by(2)[0] == 2
    driver.rejoin(1)
    assert outcome(driver.produce(1)) == (0, 0)
    assert driver.ends() == {1: 1, 2: 1}


@pytest.mark.parametrize("state", [FollowerState.BEHIND, FollowerState.SLOW])
def test_a_follower_that_was_fenced_though_it_followed_joins_again(state: FollowerState) -> None:
    """It has nothing to catch up with, but goes on fetching."""
    driver = PartitionDriver()
    delay_ms = 100 if state is FollowerState.SLOW else 0
    driver.partition.set_follower(3, state, delay_ms=delay_ms)
    driver.produce(1)
    driver.cluster.network.cut_off(3, [], from_controller=True)
    driver.advance(SESSION_MS + LAG_MS)
    assert (driver.partition.isr, driver.ends()[3]) == ([1, 2], 1)
    driver.rejoin(3)
    assert driver.partition.isr == [1, 2, 3]
    assert driver.partition.leader_epoch == 0


def test_a_follower_that_was_fenced_is_back_before_its_leader() -> None:
    driver = PartitionDriver(brokers=2)
    driver.cluster.network.cut_off(2, [], from_controller=True)
    driver.advance(SESSION_MS)
    driver.stop_broker(1)
    driver.rejoin(2)
    assert driver.leader_told_by(2)[0] == NO_LEADER
    driver.start_broker(1)
    assert driver.partition.isr == [1, 2]
