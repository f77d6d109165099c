"""A leader that was killed leads until its session is over, and nobody hears anything from it."""

import pytest

from mockbroker.cluster.replicas import describe
from mockbroker.metadata.records import NO_LEADER
from mockbroker.replication.states import FollowerState

from ..driving.partition import LAG_MS, PartitionDriver

SESSION_MS = 9_000
DELAY_MS = 100
TOLD_MS = 500
"""By then a follower's fetch that waits is answered."""


def test_a_follower_fetches_nothing_from_a_leader_that_was_killed(driver: PartitionDriver) -> None:
    driver.produce(2)
    driver.partition.set_follower(3, FollowerState.PAUSED)
    driver.produce(3, acks=1)
    driver.kill_broker(1)
    driver.partition.set_follower(3, FollowerState.BEHIND)
    assert driver.ends() == {1: 5, 2: 5, 3: 2}
    driver.advance(SESSION_MS - 1)
    assert (driver.leader_told_by(2), driver.ends()[3]) == ((1, 0), 2)
    assert describe(driver.partition)[2].state == "behind"
    driver.advance(1)
    assert (driver.leader_told_by(2), driver.ends()[3]) == ((2, 1), 5)
    assert describe(driver.partition)[2].state == "in step"


def test_an_answer_to_a_slow_follower_dies_with_its_leader(driver: PartitionDriver) -> None:
    driver.partition.set_follower(3, FollowerState.SLOW, delay_ms=DELAY_MS)
    asked = driver.produce(3)
    driver.kill_broker(1)
    driver.advance(SESSION_MS - 1)
    assert driver.ends()[3] == 0
    assert asked.parked
    driver.advance(1)
    assert asked.parked, "nobody is there to answer"
    driver.advance(2 * DELAY_MS)
    assert driver.ends()[3] == 3
    assert driver.state_of(3) is FollowerState.SLOW


@pytest.mark.parametrize("state", [FollowerState.BEHIND, FollowerState.SLOW])
def test_a_follower_goes_on_when_the_same_leader_is_back(state: FollowerState) -> None:
    driver = PartitionDriver(brokers=2)
    driver.leave_behind(2)
    driver.kill_broker(1)
    delay_ms = DELAY_MS if state is FollowerState.SLOW else 0
    driver.partition.set_follower(2, state, delay_ms=delay_ms)
    driver.advance(2 * SESSION_MS)
    assert driver.leader_told_by(2)[0] == NO_LEADER
    assert (driver.ends()[2], driver.state_of(2)) == (0, state)
    driver.start_broker(1)
    driver.advance(2 * DELAY_MS)
    assert driver.leader_told_by(2) == (1, 2)
    assert driver.ends() == {1: 2, 2: 2}
    assert driver.partition.isr == [1, 2]


def test_a_leader_that_was_killed_and_started_again_at_once_is_followed_once_it_is_back() -> None:
    driver = PartitionDriver(brokers=2)
    driver.leave_behind(2)
    driver.kill_broker(1)
    driver.start_broker(1)
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert driver.ends()[2] == 0, "it waits for its old session to end"
    driver.advance(SESSION_MS)
    assert driver.ends()[2] == 2
    assert driver.partition.isr == [1, 2]


@pytest.mark.parametrize(("killed_after_ms", "heard"), [(0, 0), (TOLD_MS, 3)])
def test_a_dead_leader_tells_no_high_watermark(killed_after_ms: int, heard: int) -> None:
    driver = PartitionDriver()
    driver.produce(3)
    driver.advance(killed_after_ms)
    driver.kill_broker(1)
    driver.advance(SESSION_MS - TOLD_MS - 1)
    assert driver.read(0, broker=2).high_watermark == heard
    driver.advance(TOLD_MS + 1)
    assert driver.leader_told_by(2)[0] == 2
    assert driver.read(0, broker=2).high_watermark == 3


def test_a_slow_follower_asks_once_at_a_time() -> None:
    """Made slow anew, it forgets what it asked before: two answers would have it cut its log twice."""
    driver = PartitionDriver(unclean_leader_election_enable="true")
    driver.produce(2)
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.produce(1, acks=1)
    driver.partition.set_follower(3, FollowerState.PAUSED)
    driver.produce(1, acks=1)
    driver.advance(2 * LAG_MS)
    driver.partition.set_follower(3, FollowerState.SLOW, delay_ms=10 * DELAY_MS)
    driver.stop_broker(1)
    assert driver.leader_told_by(2)[0] == 2
    assert driver.ends() == {1: 4, 2: 2, 3: 3}
    for state in (FollowerState.PAUSED, FollowerState.SLOW):
        driver.partition.set_follower(3, state, delay_ms=9 * DELAY_MS)
    driver.partition.set_follower(3, FollowerState.SLOW, delay_ms=DELAY_MS)
    driver.advance(DELAY_MS)
    assert driver.ends()[3] == 2
    driver.advance(20 * DELAY_MS)
    assert describe(driver.partition)[2].failure == ""
    assert driver.state_of(3) is FollowerState.SLOW
    assert driver.partition.isr == [2, 3]
