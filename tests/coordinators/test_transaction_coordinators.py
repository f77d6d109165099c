"""Transaction coordinators: what the next one knows, and when a state counts."""

from dataclasses import replace

import pytest

from mockbroker.replication.states import FollowerState

from ..driving.transactions import Given, TransactionDriver


@pytest.mark.parametrize("kafka", ["0.11", "3.9", "4.4"])
def test_the_next_coordinator_knows_everything(kafka: str) -> None:
    driver = TransactionDriver(kafka, brokers=3)
    producer = driver.begun()
    driver.add(producer, 1)
    first = driver.coordinator()
    before = driver.cluster.brokers[first].transactions.find("tx")
    assert before is not None
    if kafka != "4.4":
        # Version 0 of its records has no room for it.
        before = replace(before, previous_producer_id=-1)
    driver.stop_broker(first)
    second = driver.coordinator()
    assert second != first
    assert driver.cluster.brokers[second].transactions.find("tx") == before
    assert driver.end(producer, commit=False).error == "NONE"
    assert driver.stable() == (4, 4)
    again = driver.init()
    assert again == Given("NONE", producer.producer_id, producer.epoch + 1)


def test_a_coordinator_goes_on_with_the_markers_of_the_one_before() -> None:
    driver = TransactionDriver(brokers=3, markers_delay_ms=1000)
    producer = driver.begun()
    driver.end(producer, commit=True)
    driver.stop_broker(driver.coordinator())
    assert driver.describe().transaction_state == "PrepareCommit"
    driver.advance(1000)
    assert driver.describe().transaction_state == "CompleteCommit"
    assert driver.stable() == (4, 4)
    marker_epoch = driver.orders.log.producers.entries[producer.producer_id].coordinator_epoch
    assert marker_epoch == driver.cluster.transaction_partition("tx").leader_epoch > 0


def test_a_state_counts_once_it_is_replicated() -> None:
    driver = TransactionDriver(brokers=3)
    producer = driver.init()
    partition = driver.cluster.transaction_partition("tx")
    followers = [broker for broker in partition.replicas if broker != partition.leader]
    for broker in followers:
        partition.set_follower(broker, FollowerState.PAUSED)
    asked = driver.add_later(producer)
    assert asked.response is None
    assert driver.init().error == "CONCURRENT_TRANSACTIONS"
    for broker in followers:
        partition.set_follower(broker, FollowerState.BEHIND)
    assert asked.response is not None
    assert driver.describe().transaction_state == "Ongoing"


def test_too_few_replicas_for_the_state() -> None:
    driver = TransactionDriver(brokers=3)
    producer = driver.init()
    partition = driver.cluster.transaction_partition("tx")
    for broker in [each for each in partition.replicas if each != partition.leader]:
        driver.stop_broker(broker)
    assert driver.add(producer) == {0: "COORDINATOR_NOT_AVAILABLE"}


def test_followers_keep_up_with_a_coordinator_that_writes_as_they_fetch() -> None:
    driver = TransactionDriver(brokers=3)
    producer = driver.begun()
    partition = driver.cluster.transaction_partition("tx")
    followers = [each for each in partition.replicas if each != partition.leader]
    for broker in followers:
        partition.set_follower(broker, FollowerState.PAUSED)
    ended = driver.end_later(producer, commit=True)
    assert ended.parked
    for broker in followers:
        partition.set_follower(broker, FollowerState.BEHIND)
    assert not ended.parked
    assert driver.describe().transaction_state == "CompleteCommit"
    assert {partition.followers[each].state for each in followers} == {FollowerState.IN_STEP}
