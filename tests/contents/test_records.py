"""Records are told of as real clients write and read them, in whatever state their log is."""

import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from mockbroker import MockCluster, NotThereError, Record, RefusedError

from ..driving.real_clients import a_consumer, a_producer, polled


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(brokers=3, topics={"orders": 2}) as running:
        yield running


def consumed(cluster: MockCluster, topic: str, count: int) -> list[tuple[object, ...]]:
    """What a real consumer reads, from the earliest offset on."""
    consumer = a_consumer(cluster, "reading")
    partitions = [each.partition for each in cluster.topic(topic).partitions]
    consumer.assign([TopicPartition(topic, each, -2) for each in partitions])
    found: list[tuple[Any, ...]] = []
    try:
        for message in polled(consumer, count):
            where = (message.partition(), message.offset(), message.leader_epoch())
            headers = tuple(message.headers() or ())
            found.append((*where, message.key(), message.value(), headers, message.timestamp()[1]))
    finally:
        consumer.close()
    return sorted(found, key=lambda each: each[:2])


def told(records: list[Record]) -> list[tuple[object, ...]]:
    return [(*place(each), each.key, each.value, each.headers, each.timestamp_ms) for each in records]


def place(record: Record) -> tuple[int, int, int | None]:
    return record.partition, record.offset, record.leader_epoch


@pytest.mark.parametrize(
    ("codec", "idempotent"),
    [("none", False), ("gzip", True), ("snappy", False), ("lz4", True), ("zstd", False)],
)
def test_a_real_consumer_reads_what_is_told(cluster: MockCluster, codec: str, idempotent: bool) -> None:
    config = {"compression.type": codec, "enable.idempotence": idempotent, "linger.ms": 20}
    producer = a_producer(cluster, **config)
    now_ms = int(time.time() * 1000)
    written: list[tuple[bytes | None, bytes | None, list[tuple[str, bytes | str | None]]]] = [
        (b"plain", None, []),
        (None, b"a tombstone", []),
        (b"", b"", [("", b""), ("null", None)]),
        (b"x" * 5000, "Ω".encode(), [("twice", b"1"), ("twice", b"2")]),
    ]
    for number, (value, key, headers) in enumerate(written * 2):
        producer.produce(
            "orders", value, key, partition=number % 2, headers=headers, timestamp=now_ms - number
        )
    assert producer.flush(60) == 0
    records = cluster.records("orders")
    assert told(records) == consumed(cluster, "orders", len(written) * 2)
    assert [each.value for each in records] == [written[at % 4][0] for at in (0, 2, 4, 6, 1, 3, 5, 7)]
    sequences = [[each.sequence for each in records if each.partition == index] for index in (0, 1)]
    assert sequences == [[0, 1, 2, 3] if idempotent else [None] * 4] * 2
    assert all((each.producer_id is not None) == idempotent for each in records)
    assert cluster.records("orders", 1) == [each for each in records if each.partition == 1]
    assert cluster.records("orders", offset=2) == [each for each in records if each.offset >= 2]


def test_a_log_that_begins_in_the_midst_of_a_batch(cluster: MockCluster) -> None:
    producer = a_producer(cluster, **{"linger.ms": 1000})
    for number in range(5):
        producer.produce("orders", str(number), partition=0)
    assert producer.flush(60) == 0
    cluster.delete_records("orders", 0, before=3)
    assert [each.offset for each in cluster.records("orders")] == [3, 4]
    assert told(cluster.records("orders")) == consumed(cluster, "orders", 2)


def test_a_compacted_log_has_gaps() -> None:
    config = {"cleanup.policy": "compact", "segment.ms": "1000", "min.cleanable.dirty.ratio": "0.01"}
    with MockCluster(clock="manual") as cluster:
        cluster.create_topic("latest", config=config)
        for number in range(4):
            cluster.produce("latest", str(number), key=str(number % 2))
            cluster.clock.advance("2s")
        cluster.produce("latest", "the last", key="another")
        cluster.clock.advance("1h")
        assert [(each.offset, each.value) for each in cluster.records("latest")] == [
            (2, b"2"),
            (3, b"3"),
            (4, b"the last"),
        ]
        assert told(cluster.records("latest")) == consumed(cluster, "latest", 3)


def test_what_consumers_may_not_read_yet_is_stored_all_the_same(cluster: MockCluster) -> None:
    first = cluster.produce("orders", "a", partition=0)
    cluster.pause_follower("orders", 0, broker=3)
    second = cluster.produce("orders", "b", partition=0, acks=1)
    assert cluster.records("orders") == [first, second]
    for level in ("read_uncommitted", "read_committed"):
        assert cluster.records("orders", isolation_level=level) == [first]
    assert cluster.records("orders", 0, broker=3) == [first]
    assert cluster.records("orders", 0, broker=2) == [first, second]
    partition = cluster.topic("orders").partitions[0]
    assert (partition.high_watermark, partition.log_end_offset) == (1, 2)


def test_a_consumer_that_reads_too_far_does_so_here_too(cluster: MockCluster) -> None:
    cluster.policies.set("consumer-read-limit", "log-end-offset", topic="orders")
    cluster.produce("orders", "a", partition=0)
    cluster.pause_follower("orders", 0, broker=3)
    cluster.produce("orders", "b", partition=0, acks=1)
    read = cluster.records("orders", isolation_level="read_uncommitted")
    assert told(read) == consumed(cluster, "orders", 2)
    assert cluster.records("orders", isolation_level="read_uncommitted", offset=1) == []


def test_a_function_on_a_request_may_look_and_write(cluster: MockCluster) -> None:
    seen: list[tuple[int, list[str], int]] = []

    def look(_: object) -> None:
        copy = cluster.produce("copies", "a copy", acks=1)
        seen.append((len(cluster.records("orders")), list(cluster.topics()), copy.offset))

    with cluster.on("Produce", look):
        producer = a_producer(cluster)
        producer.produce("orders", "a", partition=0)
        assert producer.flush(60) == 0
    assert seen == [(0, ["copies", "orders"], 0)]


def test_it_is_the_log_of_the_last_leader_while_there_is_none() -> None:
    with MockCluster(brokers=3) as cluster:
        cluster.create_topic("orders", replica_assignment=[[2, 1]])
        written = cluster.produce("orders", "a")
        cluster.stop_broker(1)
        cluster.kill_broker(2)
        for _ in range(2):
            assert cluster.records("orders") == cluster.records("orders", broker=1) == [written]
            with pytest.raises(RefusedError, match="LEADER_NOT_AVAILABLE: nothing was written to orders-0"):
                cluster.produce("orders", "b")
            cluster.clock.advance("1h")
        assert cluster.topic("orders").partitions[0].leader is None
        with pytest.raises(
            NotThereError, match="broker 3 has no replica of orders-0: its replicas are on 2, 1"
        ):
            cluster.records("orders", broker=3)
        with pytest.raises(NotThereError, match="no broker 4"):
            cluster.records("orders", broker=4)


def test_a_time_that_stands_still_does_not_hold_a_record_up_for_good() -> None:
    with MockCluster(brokers=2, clock="manual") as cluster:
        cluster.create_topic("orders", replication_factor=2)
        follower = next(each for each in cluster.replicas("orders", 0) if each.state != "leader").broker
        cluster.pause_follower("orders", 0, broker=follower)
        began_ms = cluster.clock.now_ms
        with pytest.raises(RefusedError, match="REQUEST_TIMED_OUT"):
            cluster.produce("orders", "a", timeout=0.02)
        assert cluster.clock.now_ms == began_ms
        assert cluster.produce("orders", "b", acks=1).timestamp_ms == began_ms


def test_a_partition_that_is_not_there_is_named() -> None:
    with MockCluster(topics={"orders": 2}) as cluster:
        for wrong in (-1, 2, math.inf):
            with pytest.raises(NotThereError, match=r"no partition orders-.*: choose 0 to 1"):
                cluster.records("orders", wrong)  # type: ignore[arg-type]
