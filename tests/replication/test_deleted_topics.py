"""Requests that wait while their topic is deleted, as real 3.9.2 and 4.4.0 answered them."""

import pytest

from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import batch

from ..driving.partition import PartitionDriver, deleted, fetched, outcome

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def with_a_paused_follower() -> PartitionDriver:
    driver = PartitionDriver()
    driver.produce(1)
    driver.partition.set_follower(3, FollowerState.PAUSED)
    return driver


@pytest.mark.parametrize("version", [9, 13])
def test_a_produce_that_waits_is_answered_at_once(version: int) -> None:
    """It says still at which offset the records were."""
    driver = with_a_paused_follower()
    asked = driver.produce(1, version=version)
    assert asked.parked
    driver.cluster.delete_topics([driver.topic])
    assert outcome(asked) == (UNKNOWN, 1)
    driver.advance(120_000)


def test_a_produce_to_two_topics_waits_for_the_other_one() -> None:
    driver = with_a_paused_follower()
    other = driver.cluster.create_topic("u", [[1, 3]]).partitions[0]
    other.set_follower(3, FollowerState.PAUSED)
    data = [TopicProduceData(name=name, partition_data=[PartitionProduceData(0, batch(1))]) for name in "tu"]
    asked = driver.ask(ProduceRequest(None, -1, 60_000, data), 9)
    driver.cluster.delete_topics([driver.partition.topic])
    assert asked.parked
    other.set_follower(3, FollowerState.BEHIND)
    assert [each.partition_responses[0].error_code for each in asked.responses] == [UNKNOWN, 0]


def test_a_produce_at_a_leader_that_is_cut_off_is_answered_once_that_hears_of_it() -> None:
    driver = PartitionDriver()
    driver.cluster.network.cut_off(1, [2, 3], from_controller=True)
    driver.advance(60_000)
    asked = driver.produce(1, broker=1)
    assert asked.parked
    driver.cluster.delete_topics([driver.partition.topic])
    assert asked.parked
    driver.rejoin(1)
    assert outcome(asked) == (UNKNOWN, 0)


@pytest.mark.parametrize("version", [12, 17])
def test_a_fetch_that_waits_is_answered_at_once(version: int) -> None:
    driver = with_a_paused_follower()
    asked = driver.fetch(1, version=version, wait_ms=20_000, min_bytes=100_000)
    assert asked.parked
    driver.cluster.delete_topics([driver.topic])
    assert fetched(asked).error_code == UNKNOWN


def test_delete_records_waits_until_its_time_is_over() -> None:
    driver = with_a_paused_follower()
    asked = driver.delete_records(1, 8_000)
    assert asked.parked
    driver.cluster.delete_topics([driver.partition.topic])
    driver.advance(7_999)
    assert asked.parked
    driver.advance(1)
    assert deleted(asked) == (ErrorCode.REQUEST_TIMED_OUT, 0)
