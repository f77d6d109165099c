"""Reassignments that take their time, and end when what they wait for is there."""

import pytest

from mockbroker.controller import reassignments
from mockbroker.protocol.api_error import ApiError
from mockbroker.protocol.errors import ErrorCode
from mockbroker.replication.states import FollowerState

from ..driving.partition import PartitionDriver, outcome


def moving(kafka: str = "4.4", state: FollowerState = FollowerState.PAUSED) -> PartitionDriver:
    """Broker 4 is to take the place of broker 1, the leader, and its new replica does not get on."""
    driver = PartitionDriver(kafka, brokers=4, replicas=[1, 2, 3])
    driver.produce(3)
    driver.cluster.brokers[4].unreachable.add(1)
    driver.cluster.brokers[1].unreachable.add(4)
    reassignments.begin(driver.partition, [4, 2, 3])
    driver.cluster.brokers[4].unreachable.clear()
    driver.cluster.brokers[1].unreachable.clear()
    driver.partition.set_follower(4, state, delay_ms=100 if state is FollowerState.SLOW else 0)
    return driver


def test_it_ends_when_the_new_replica_fetches_again() -> None:
    driver = moving()
    assert driver.partition.replicas == [4, 2, 3, 1]
    assert (driver.partition.leader, driver.ends()[4]) == (1, 0)
    driver.partition.set_follower(4, FollowerState.BEHIND)
    driver.advance(0)
    assert (driver.partition.leader, driver.partition.replicas) == (4, [4, 2, 3])
    assert driver.partition.isr == [2, 3, 4]
    assert driver.ends() == {4: 3, 2: 3, 3: 3}


def test_it_takes_a_slow_follower_as_long_as_its_fetches_take() -> None:
    driver = moving(state=FollowerState.SLOW)
    driver.advance(99)
    assert reassignments.under_way(driver.partition)
    driver.advance(1)
    assert not reassignments.under_way(driver.partition)
    assert driver.partition.leader == 4


def test_a_client_may_fetch_as_the_new_replica() -> None:
    driver = moving(state=FollowerState.EXTERNAL)
    driver.fetch(0, replica=4)
    assert reassignments.under_way(driver.partition)
    driver.fetch(3, replica=4)
    driver.advance(0)
    assert (driver.partition.leader, driver.partition.replicas) == (4, [4, 2, 3])


def test_acks_all_waits_for_no_replica_that_is_to_be_added() -> None:
    driver = moving()
    assert outcome(driver.produce(1)) == (0, 3)
    assert driver.ends()[4] == 0


def test_what_waits_at_a_leader_that_goes_is_answered() -> None:
    driver = moving()
    driver.partition.set_follower(2, FollowerState.PAUSED)
    waiting = driver.produce(1)
    assert waiting.parked
    driver.partition.set_follower(4, FollowerState.BEHIND)
    driver.advance(0)
    assert outcome(waiting)[0] == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_a_topic_is_deleted_meanwhile() -> None:
    driver = moving(state=FollowerState.EXTERNAL)
    driver.fetch(3, replica=4)
    driver.cluster.delete_topics([driver.topic])
    driver.advance(0)
    assert "t" not in driver.cluster.topics


def test_a_cancelled_one_leaves_nothing_behind() -> None:
    driver = moving()
    reassignments.cancel(driver.partition)
    assert driver.partition.replicas == [2, 3, 1]
    assert driver.partition.logs.keys() == {1, 2, 3}
    assert driver.partition.followers.keys() == {2, 3}
    driver.advance(60_000)
    assert driver.partition.leader == 1
    with pytest.raises(ApiError) as refused:
        reassignments.cancel(driver.partition)
    assert refused.value.code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_it_is_not_cancelled_where_only_new_replicas_are_in_sync() -> None:
    """Unless the topic allows unclean elections."""
    driver = PartitionDriver(brokers=3, replicas=[1])
    driver.produce(3)
    driver.stop_broker(3)
    reassignments.begin(driver.partition, [2, 3])
    driver.stop_broker(1)
    assert (driver.partition.leader, driver.partition.isr) == (2, [2])
    with pytest.raises(ApiError, match="it would require an unclean leader election") as refused:
        reassignments.cancel(driver.partition)
    assert refused.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    driver.topic.configure({"unclean.leader.election.enable": "true"})
    reassignments.cancel(driver.partition)
    assert (driver.partition.replicas, driver.partition.isr) == ([1], [1])


@pytest.mark.parametrize(("end", "ends"), [("all-in-sync", False), ("added-in-sync", True)])
def test_a_replica_that_stays_and_lags(end: str, ends: bool) -> None:
    driver = PartitionDriver(policies={"reassignment-end": end}, brokers=4, replicas=[1, 2, 3])
    driver.stop_broker(2)
    reassignments.begin(driver.partition, [1, 2, 4])
    assert reassignments.under_way(driver.partition) is not ends
    driver.start_broker(2)
    driver.advance(0)
    assert not reassignments.under_way(driver.partition)


@pytest.mark.parametrize(
    ("bumps", "epochs"), [("bumped", (2, 4)), ("bumped-on-removal", (0, 1)), ("kept", (0, 0))]
)
def test_leader_epochs(bumps: str, epochs: tuple[int, int]) -> None:
    driver = PartitionDriver(policies={"reassignment-epoch": bumps}, brokers=3, replicas=[1, 2])
    found = []
    for target in ([1, 2, 3], [1, 3]):
        reassignments.begin(driver.partition, target)
        found.append(driver.partition.leader_epoch)
    assert tuple(found) == epochs


def test_with_zookeeper_a_replica_that_is_back_begins_anew() -> None:
    driver = PartitionDriver("2.8", brokers=3, replicas=[1, 2, 3])
    driver.stop_broker(3)
    reassignments.begin(driver.partition, [1, 3])
    before = driver.partition.leader_epoch
    driver.start_broker(3)
    driver.advance(0)
    assert (driver.partition.replicas, driver.partition.leader_epoch) == ([1, 3], before + 3)


@pytest.mark.parametrize(("target", "error"), [([2, 1], ErrorCode.UNKNOWN_SERVER_ERROR), ([3, 2], None)])
def test_an_eligible_replica_that_was_removed_can_not_come_back(
    target: list[int], error: ErrorCode | None
) -> None:
    """As real 4.4.0 answers: it asks in which directory a replica is that the partition does not have."""
    driver = PartitionDriver(brokers=3, replicas=[2, 1], min_insync_replicas="2")
    driver.produce(3)
    reassignments.begin(driver.partition, [2])
    assert (driver.partition.replicas, driver.partition.eligible_leader_replicas) == ([2], [1])
    driver.stop_broker(2)
    if error is None:
        reassignments.begin(driver.partition, target)
        assert driver.partition.replicas == target
    else:
        with pytest.raises(ApiError) as refused:
            reassignments.begin(driver.partition, target)
        assert refused.value.code == error


def test_nobody_leads_while_only_a_removed_replica_is_eligible() -> None:
    """As real 4.4.0: a broker that was killed is no longer eligible, nor the last known leader, since another
    one is eligible."""
    driver = PartitionDriver(brokers=3, replicas=[2, 1], min_insync_replicas="2")
    reassignments.begin(driver.partition, [2])
    driver.kill_broker(2)
    driver.advance(20_000)
    driver.start_broker(2)
    driver.advance(20_000)
    assert driver.partition.leader == -1
    assert driver.partition.eligible_leader_replicas == [1]
