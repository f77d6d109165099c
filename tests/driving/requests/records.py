"""Requests about records and their logs."""

from collections.abc import Iterator
from typing import Any

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import (
    common,
    delete_records,
    describe_log_dirs,
    describe_producers,
    fetch,
    list_offsets,
    offset_for_leader_epoch,
)

from ..many import BIG, TIMEOUT_MS, Many, one_batch
from .about import about


@about(ApiKey.PRODUCE)
def _produce(many: Many) -> Iterator[Any]:
    records = one_batch(many.cluster.now_ms)
    yield many.produce([(name, 0) for name in many.topics], records)


@about(ApiKey.PRODUCE, "to one partition")
def _produce_one(many: Many) -> Iterator[Any]:
    records = one_batch(many.cluster.now_ms)
    for _ in range(many.n):
        yield many.produce([(BIG, 0)], records)


@about(ApiKey.PRODUCE, "by many producers")
def _produce_idempotent(many: Many) -> Iterator[Any]:
    for producer_id in range(many.n):
        yield many.produce([(BIG, 0)], one_batch(many.cluster.now_ms, producer_id))


@about(ApiKey.PRODUCE, "of transactions")
def _produce_transactional(many: Many) -> Iterator[Any]:
    many.open_all()
    for name in many.ids:
        records = one_batch(many.cluster.now_ms, many.producers[name], transactional=True)
        yield many.produce([(BIG, 0)], records, name)


def _fetch(many: Many, max_wait_ms: int, isolation_level: int) -> Any:
    return fetch.FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1 << 30,
        max_bytes=1 << 30,
        isolation_level=isolation_level,
        session_epoch=0,
        topics=[
            fetch.FetchTopic(
                many.cluster.topics[name].id, [fetch.FetchPartition(0, partition_max_bytes=1 << 20)], name
            )
            for name in many.topics
        ],
    )


@about(ApiKey.FETCH)
def _fetch_at_once(many: Many) -> Iterator[Any]:
    many.send(many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms)))
    opened = _fetch(many, 0, 1)
    yield opened
    (session_id,) = many.cluster.brokers[1].sessions.sessions
    yield fetch.FetchRequest(min_bytes=1 << 30, session_id=session_id, session_epoch=1)


@about(ApiKey.FETCH, "that wait")
def _fetch_waiting(many: Many) -> Iterator[Any]:
    yield _fetch(many, 500, 0)
    yield many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms))


@about(ApiKey.LIST_OFFSETS)
def _list_offsets(many: Many) -> Iterator[Any]:
    many.send(many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms)))
    for timestamp in (-1, -3, 0):
        partition = list_offsets.ListOffsetsPartition(0, timestamp=timestamp)
        topics = [list_offsets.ListOffsetsTopic(name, [partition]) for name in many.topics]
        yield list_offsets.ListOffsetsRequest(-1, 1, topics)


@about(ApiKey.DELETE_RECORDS)
def _delete_records(many: Many) -> Iterator[Any]:
    many.send(many.produce([(name, 0) for name in many.topics], one_batch(many.cluster.now_ms)))
    partitions = [delete_records.DeleteRecordsPartition(0, 1)]
    topics = [delete_records.DeleteRecordsTopic(name, partitions) for name in many.topics]
    yield delete_records.DeleteRecordsRequest(topics, TIMEOUT_MS)


@about(ApiKey.OFFSET_FOR_LEADER_EPOCH)
def _offset_for_leader_epoch(many: Many) -> Iterator[Any]:
    partitions = [offset_for_leader_epoch.OffsetForLeaderPartition(0, -1, 0)]
    topics = [offset_for_leader_epoch.OffsetForLeaderTopic(name, partitions) for name in many.topics]
    yield offset_for_leader_epoch.OffsetForLeaderEpochRequest(-1, topics)


@about(ApiKey.DESCRIBE_PRODUCERS)
def _describe_producers(many: Many) -> Iterator[Any]:
    many.open_all()
    topics = [common.NamePartitionIndexes(name, [0]) for name in many.topics]
    yield describe_producers.DescribeProducersRequest(topics)


@about(ApiKey.DESCRIBE_PRODUCERS, "of one partition")
def _describe_producers_of_one(many: Many) -> Iterator[Any]:
    for producer_id in range(many.n):
        many.send(many.produce([(BIG, 0)], one_batch(many.cluster.now_ms, producer_id)))
    yield describe_producers.DescribeProducersRequest([common.NamePartitionIndexes(BIG, [0] * 2)])


@about(ApiKey.DESCRIBE_LOG_DIRS)
def _describe_log_dirs(many: Many) -> Iterator[Any]:
    yield describe_log_dirs.DescribeLogDirsRequest()
    topics = [common.TopicPartitions(name, [0]) for name in many.topics]
    yield describe_log_dirs.DescribeLogDirsRequest(topics)
