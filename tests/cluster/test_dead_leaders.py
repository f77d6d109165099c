"""A leader that was killed leads until its session is over, and nobody hears anything from it."""

import pytest

from mockbroker.cluster import controller
from mockbroker.cluster.follower import FollowerState
from mockbroker.cluster.partition import NO_LEADER
from mockbroker.cluster.replicas import describe
from mockbroker.protocol.errors import ErrorCode

from .lab import LAG_MS, Lab, outcome

SESSION_MS = 9_000
DELAY_MS = 100
TOLD_MS = 500
"""By then a follower's fetch that waits is answered."""


def test_a_follower_fetches_nothing_from_a_leader_that_was_killed() -> None:
    lab = Lab()
    lab.produce(2)
    lab.partition.set_follower(3, FollowerState.PAUSED)
    lab.produce(3, acks=1)
    controller.kill_broker(lab.cluster, 1)
    lab.partition.set_follower(3, FollowerState.BEHIND)
    assert lab.ends() == {1: 5, 2: 5, 3: 2}
    lab.pass_time(SESSION_MS - 1)
    assert (lab.leader_told_by(2), lab.ends()[3]) == ((1, 0), 2)
    assert describe(lab.partition)[2].state == "behind"
    lab.pass_time(1)
    assert (lab.leader_told_by(2), lab.ends()[3]) == ((2, 1), 5)
    assert describe(lab.partition)[2].state == "in step"


def test_an_answer_to_a_slow_follower_dies_with_its_leader() -> None:
    lab = Lab()
    lab.partition.set_follower(3, FollowerState.SLOW, delay_ms=DELAY_MS)
    _, later = lab.produce(3)
    controller.kill_broker(lab.cluster, 1)
    lab.pass_time(SESSION_MS - 1)
    assert lab.ends()[3] == 0
    assert later == []
    lab.pass_time(1)
    assert outcome(later[0])[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER
    lab.pass_time(2 * DELAY_MS)
    assert lab.ends()[3] == 3
    assert lab.state_of(3) is FollowerState.SLOW


@pytest.mark.parametrize("state", [FollowerState.BEHIND, FollowerState.SLOW])
def test_a_follower_goes_on_when_the_same_leader_is_back(state: FollowerState) -> None:
    lab = Lab(brokers=2)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(2, acks=1)
    lab.pass_time(2 * LAG_MS)
    assert lab.partition.isr == [1]
    controller.kill_broker(lab.cluster, 1)
    delay_ms = DELAY_MS if state is FollowerState.SLOW else 0
    lab.partition.set_follower(2, state, delay_ms=delay_ms)
    lab.pass_time(2 * SESSION_MS)
    assert lab.leader_told_by(2)[0] == NO_LEADER
    assert (lab.ends()[2], lab.state_of(2)) == (0, state)
    controller.start_broker(lab.cluster, 1)
    lab.pass_time(2 * DELAY_MS)
    assert lab.leader_told_by(2) == (1, 2)
    assert lab.ends() == {1: 2, 2: 2}
    assert lab.partition.isr == [1, 2]


def test_a_leader_that_was_killed_and_started_again_at_once_is_followed_once_it_is_back() -> None:
    lab = Lab(brokers=2)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(2, acks=1)
    lab.pass_time(2 * LAG_MS)
    controller.kill_broker(lab.cluster, 1)
    controller.start_broker(lab.cluster, 1)
    lab.partition.set_follower(2, FollowerState.BEHIND)
    assert lab.ends()[2] == 0, "it waits for its old session to end"
    lab.pass_time(SESSION_MS)
    assert lab.ends()[2] == 2
    assert lab.partition.isr == [1, 2]


@pytest.mark.parametrize(("killed_after_ms", "heard"), [(0, 0), (TOLD_MS, 3)])
def test_a_dead_leader_tells_no_high_watermark(killed_after_ms: int, heard: int) -> None:
    lab = Lab()
    lab.produce(3)
    lab.pass_time(killed_after_ms)
    controller.kill_broker(lab.cluster, 1)
    lab.pass_time(SESSION_MS - TOLD_MS - 1)
    assert lab.fetch(0, broker=2).high_watermark == heard
    lab.pass_time(TOLD_MS + 1)
    assert lab.leader_told_by(2)[0] == 2
    assert lab.fetch(0, broker=2).high_watermark == 3


def test_a_slow_follower_asks_once_at_a_time() -> None:
    """Made slow anew, it forgets what it asked before: two answers would have it cut its log twice."""
    lab = Lab(unclean_leader_election_enable="true")
    lab.produce(2)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(1, acks=1)
    lab.partition.set_follower(3, FollowerState.PAUSED)
    lab.produce(1, acks=1)
    lab.pass_time(2 * LAG_MS)
    lab.partition.set_follower(3, FollowerState.SLOW, delay_ms=10 * DELAY_MS)
    controller.stop_broker(lab.cluster, 1)
    assert lab.leader_told_by(2)[0] == 2
    assert lab.ends() == {1: 4, 2: 2, 3: 3}
    for state in (FollowerState.PAUSED, FollowerState.SLOW):
        lab.partition.set_follower(3, state, delay_ms=9 * DELAY_MS)
    lab.partition.set_follower(3, FollowerState.SLOW, delay_ms=DELAY_MS)
    lab.pass_time(DELAY_MS)
    assert lab.ends()[3] == 2
    lab.pass_time(20 * DELAY_MS)
    assert describe(lab.partition)[2].failure == ""
    assert lab.state_of(3) is FollowerState.SLOW
    assert lab.partition.isr == [2, 3]
