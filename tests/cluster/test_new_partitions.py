"""Partitions that are made while brokers are down or cut off (`ReplicationControlManager.java`)."""

import pytest

from mockbroker.cluster import connectivity, controller
from mockbroker.cluster.call import PARKED
from mockbroker.cluster.follower import FollowerState
from mockbroker.cluster.partition import NO_LEADER
from mockbroker.cluster.replicas import describe

from .lab import LAG_MS, Lab, outcome

SESSION_MS = 9_000


def create_again(lab: Lab) -> None:
    """The topic is deleted and created, with replicas on all brokers."""
    lab.cluster.delete_topics([lab.cluster.topics["t"]])
    lab.partition = lab.cluster.create_topic("t", [list(lab.cluster.brokers)]).partitions[0]


def states(lab: Lab) -> list[str]:
    return [each.state for each in describe(lab.partition)]


def test_a_fenced_broker_neither_leads_nor_is_in_sync() -> None:
    lab = Lab()
    controller.stop_broker(lab.cluster, 1)
    create_again(lab)
    assert (lab.leader_told_by(2), lab.partition.isr) == ((2, 0), [2, 3])
    assert states(lab) == ["offline", "leader", "in step"]
    assert outcome(lab.produce(3)[0]) == (0, 0)
    assert lab.ends() == {1: 0, 2: 3, 3: 3}
    controller.start_broker(lab.cluster, 1)
    assert lab.ends()[1] == 3
    assert lab.partition.isr == [1, 2, 3]


def test_a_follower_that_was_killed_is_waited_for_until_its_session_is_over() -> None:
    lab = Lab()
    controller.kill_broker(lab.cluster, 3)
    create_again(lab)
    assert (lab.partition.isr, states(lab)) == ([1, 2, 3], ["leader", "in step", "offline"])
    answer, later = lab.produce(2)
    assert answer is PARKED
    lab.pass_time(SESSION_MS)
    assert outcome(later[0]) == (0, 0)
    assert (lab.partition.isr, lab.ends()[3]) == ([1, 2], 0)


def test_a_leader_that_was_killed_leads_until_its_session_is_over() -> None:
    lab = Lab()
    controller.kill_broker(lab.cluster, 1)
    create_again(lab)
    assert (lab.leader_told_by(2), states(lab)) == ((1, 0), ["leader", "behind", "behind"])
    lab.pass_time(SESSION_MS)
    assert (lab.leader_told_by(2), states(lab)) == ((2, 1), ["offline", "leader", "in step"])


@pytest.mark.parametrize("others", [(1, 2), ()], ids=["from all", "from the controller"])
def test_a_follower_that_is_cut_off_begins_once_it_hears_of_it(others: tuple[int, ...]) -> None:
    lab = Lab()
    connectivity.cut_off(lab.cluster, 3, others, from_controller=True)
    create_again(lab)
    lab.produce(2)
    lab.pass_time(SESSION_MS)
    assert states(lab) == ["leader", "in step", "cut off"]
    assert (lab.partition.isr, lab.ends()[3]) == ([1, 2], 0)
    connectivity.rejoin(lab.cluster, 3)
    assert states(lab) == ["leader", "in step", "in step"]
    assert (lab.partition.isr, lab.ends()[3]) == ([1, 2, 3], 2)


def test_without_a_broker_that_is_not_fenced_nobody_leads() -> None:
    lab = Lab(brokers=2)
    for broker in (1, 2):
        connectivity.cut_off(lab.cluster, broker, [], from_controller=True)
    lab.pass_time(SESSION_MS)
    create_again(lab)
    assert lab.partition.leader == NO_LEADER
    connectivity.rejoin(lab.cluster, 2)
    assert lab.leader_told_by(2)[0] == 2
    connectivity.rejoin(lab.cluster, 1)
    assert outcome(lab.produce(1)[0]) == (0, 0)
    assert lab.ends() == {1: 1, 2: 1}


@pytest.mark.parametrize("state", [FollowerState.BEHIND, FollowerState.SLOW])
def test_a_follower_that_was_fenced_though_it_followed_joins_again(state: FollowerState) -> None:
    """It has nothing to catch up with, but goes on fetching."""
    lab = Lab()
    delay_ms = 100 if state is FollowerState.SLOW else 0
    lab.partition.set_follower(3, state, delay_ms=delay_ms)
    lab.produce(1)
    connectivity.cut_off(lab.cluster, 3, [], from_controller=True)
    lab.pass_time(SESSION_MS + LAG_MS)
    assert (lab.partition.isr, lab.ends()[3]) == ([1, 2], 1)
    connectivity.rejoin(lab.cluster, 3)
    assert lab.partition.isr == [1, 2, 3]
    assert lab.partition.leader_epoch == 0


def test_a_follower_that_was_fenced_is_back_before_its_leader() -> None:
    lab = Lab(brokers=2)
    connectivity.cut_off(lab.cluster, 2, [], from_controller=True)
    lab.pass_time(SESSION_MS)
    controller.stop_broker(lab.cluster, 1)
    connectivity.rejoin(lab.cluster, 2)
    assert lab.leader_told_by(2)[0] == NO_LEADER
    controller.start_broker(lab.cluster, 1)
    assert lab.partition.isr == [1, 2]
