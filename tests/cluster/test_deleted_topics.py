"""Requests that wait while their topic is deleted, as real 3.9.2 and 4.4.0 answered them."""

from typing import Any

import pytest

from mockbroker.cluster import connectivity
from mockbroker.cluster.call import PARKED
from mockbroker.cluster.follower import FollowerState
from mockbroker.conformance.batches import batch
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from .lab import Lab, outcome

UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def waiting_lab() -> Lab:
    lab = Lab()
    lab.produce(1)
    lab.partition.set_follower(3, FollowerState.PAUSED)
    return lab


@pytest.mark.parametrize("version", [9, 13])
def test_a_produce_that_waits_is_answered_at_once(version: int) -> None:
    """It says still at which offset the records were."""
    lab = waiting_lab()
    topic = lab.partition.topic
    data = TopicProduceData(topic.id, [PartitionProduceData(0, batch(1))], "t")
    answer, later = lab.ask(ApiKey.PRODUCE, version, ProduceRequest(None, -1, 60_000, [data]))
    assert answer is PARKED
    lab.cluster.delete_topics([topic])
    assert outcome(later[0]) == (UNKNOWN, 1)
    lab.pass_time(120_000)
    assert len(later) == 1, "answered once"


def test_a_produce_to_two_topics_waits_for_the_other_one() -> None:
    lab = waiting_lab()
    other = lab.cluster.create_topic("u", [[1, 3]]).partitions[0]
    other.set_follower(3, FollowerState.PAUSED)
    data = [TopicProduceData(name=name, partition_data=[PartitionProduceData(0, batch(1))]) for name in "tu"]
    _, later = lab.ask(ApiKey.PRODUCE, 9, ProduceRequest(None, -1, 60_000, data))
    lab.cluster.delete_topics([lab.partition.topic])
    assert later == []
    other.set_follower(3, FollowerState.BEHIND)
    assert [each.partition_responses[0].error_code for each in later[0].responses] == [UNKNOWN, 0]


def test_a_produce_at_a_leader_that_is_cut_off_is_answered_too() -> None:
    lab = Lab()
    connectivity.cut_off(lab.cluster, 1, [2, 3], from_controller=True)
    lab.pass_time(60_000)
    _, later = lab.produce(1, broker=1)
    assert later == []
    lab.cluster.delete_topics([lab.partition.topic])
    assert outcome(later[0]) == (UNKNOWN, 0)


@pytest.mark.parametrize("version", [12, 17])
def test_a_fetch_that_waits_is_answered_at_once(version: int) -> None:
    lab = waiting_lab()
    topic = lab.partition.topic
    asked = FetchTopic(topic.id, [FetchPartition(0, -1, 1, -1, -1, 1 << 20)], "t")
    request = FetchRequest(max_wait_ms=20_000, min_bytes=100_000, topics=[asked])
    answer, later = lab.ask(ApiKey.FETCH, version, request)
    assert answer is PARKED
    lab.cluster.delete_topics([topic])
    assert later[0].responses[0].partitions[0].error_code == UNKNOWN


def test_delete_records_waits_until_its_time_is_over() -> None:
    lab = waiting_lab()
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 1)])
    later: list[Any]
    answer, later = lab.ask(ApiKey.DELETE_RECORDS, 2, DeleteRecordsRequest([topic], 8_000))
    assert answer is PARKED
    lab.cluster.delete_topics([lab.partition.topic])
    lab.pass_time(7_999)
    assert later == []
    lab.pass_time(1)
    result = later[0].topics[0].partitions[0]
    assert (result.error_code, result.low_watermark) == (ErrorCode.REQUEST_TIMED_OUT, 0)
