"""Transaction coordinators: what the next one knows, and when a state counts."""

from dataclasses import replace

import pytest

from mockbroker.cluster import controller
from mockbroker.cluster.follower import FollowerState
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from mockbroker.protocol.messages.end_txn import EndTxnRequest

from .transacting import Given, Stage


@pytest.mark.parametrize("kafka", ["0.11", "3.9", "4.4"])
def test_the_next_coordinator_knows_everything(kafka: str) -> None:
    stage = Stage(kafka, brokers=3)
    producer = stage.begun()
    stage.add(producer, 1)
    first = stage.coordinator()
    before = stage.cluster.brokers[first].transactions.find("tx")
    assert before is not None
    if kafka != "4.4":
        # Version 0 of its records has no room for it.
        before = replace(before, previous_producer_id=-1)
    controller.stop_broker(stage.cluster, first)
    second = stage.coordinator()
    assert second != first
    assert stage.cluster.brokers[second].transactions.find("tx") == before
    assert stage.end(producer, commit=False).error == "NONE"
    assert stage.stable() == (4, 4)
    again = stage.init()
    assert again == Given("NONE", producer.producer_id, producer.epoch + 1)


def test_a_coordinator_goes_on_with_the_markers_of_the_one_before() -> None:
    stage = Stage(brokers=3, markers_delay_ms=1000)
    producer = stage.begun()
    stage.end(producer, commit=True)
    controller.stop_broker(stage.cluster, stage.coordinator())
    assert stage.describe().transaction_state == "PrepareCommit"
    stage.advance(1000)
    assert stage.describe().transaction_state == "CompleteCommit"
    assert stage.stable() == (4, 4)
    marker_epoch = stage.orders.log.producers.entries[producer.producer_id].coordinator_epoch
    assert marker_epoch == stage.cluster.transaction_partition("tx").leader_epoch > 0


def test_a_state_counts_once_it_is_replicated() -> None:
    stage = Stage(brokers=3)
    producer = stage.init()
    partition = stage.cluster.transaction_partition("tx")
    followers = [broker for broker in partition.replicas if broker != partition.leader]
    for broker in followers:
        partition.set_follower(broker, FollowerState.PAUSED)
    request = AddPartitionsToTxnRequest(
        [
            AddPartitionsToTxnTransaction(
                "tx", producer.producer_id, producer.epoch, topics=[AddPartitionsToTxnTopic("orders", [0])]
            )
        ]
    )
    asked = stage.send(ApiKey.ADD_PARTITIONS_TO_TXN, request, stage.coordinator(), 3)
    assert asked.response is None
    assert stage.init().error == "CONCURRENT_TRANSACTIONS"
    for broker in followers:
        partition.set_follower(broker, FollowerState.BEHIND)
    assert asked.response is not None
    assert stage.describe().transaction_state == "Ongoing"


def test_too_few_replicas_for_the_state() -> None:
    stage = Stage(brokers=3)
    producer = stage.init()
    partition = stage.cluster.transaction_partition("tx")
    for broker in [each for each in partition.replicas if each != partition.leader]:
        controller.stop_broker(stage.cluster, broker)
    assert stage.add(producer) == {0: "COORDINATOR_NOT_AVAILABLE"}


def test_followers_keep_up_with_a_coordinator_that_writes_as_they_fetch() -> None:
    stage = Stage(brokers=3)
    producer = stage.begun()
    partition = stage.cluster.transaction_partition("tx")
    followers = [each for each in partition.replicas if each != partition.leader]
    for broker in followers:
        partition.set_follower(broker, FollowerState.PAUSED)
    request = EndTxnRequest("tx", producer.producer_id, producer.epoch, committed=True)
    ended = stage.send(ApiKey.END_TXN, request, partition.leader, 4)
    assert ended.parked
    for broker in followers:
        partition.set_follower(broker, FollowerState.BEHIND)
    assert not ended.parked
    assert stage.describe().transaction_state == "CompleteCommit"
    assert {partition.followers[each].state for each in followers} == {FollowerState.IN_STEP}
