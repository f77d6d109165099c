"""What brokers count of the bytes that producers send and consumers get."""

from typing import Any

import pytest

from mockbroker.controller import reassignments
from mockbroker.protocol.errors import ErrorCode
from mockbroker.rig.batches import batch, records

from ..driving.partition import PartitionDriver, outcome

SESSION_MS = 9000


class StatsDriver(PartitionDriver):
    """A partition of two replicas; broker 1 leads."""

    def __init__(self, **overrides: Any) -> None:
        config = {"broker.session.timeout.ms": SESSION_MS}
        super().__init__(replicas=[1, 2], config=config, **overrides)

    def topics(self, broker: int = 1) -> dict[str, tuple[int, int, int]]:
        """Bytes in, records in and bytes out."""
        stats = self.cluster.brokers[broker].replicas.stats
        return {name: (s.bytes_in, s.messages_in, s.bytes_out) for name, s in stats.topics.items()}

    def all_topics(self, broker: int = 1) -> tuple[int, int, int]:
        stats = self.cluster.brokers[broker].replicas.stats.all_topics
        return stats.bytes_in, stats.messages_in, stats.bytes_out


def test_only_the_leader_counts_what_was_appended(driver: StatsDriver) -> None:
    assert driver.topics() == {}
    sent = batch(3)
    assert outcome(driver.produce(sent)) == (0, 0)
    assert driver.topics() == {"t": (len(sent), 3, 0)}
    assert driver.all_topics() == (len(sent), 3, 0)
    assert driver.topics(2) == {}
    assert driver.partition.logs[2].size == len(sent)


def test_a_refused_batch_does_not_count() -> None:
    driver = StatsDriver(max_message_bytes=10)
    assert outcome(driver.produce(3))[0] == ErrorCode.MESSAGE_TOO_LARGE
    assert driver.topics() == {}


def test_bytes_count_as_the_producer_compressed_them() -> None:
    driver = StatsDriver(compression_type="gzip")
    sent = batch(records(1, size=1000))
    driver.produce(sent)
    assert driver.partition.log.size < len(sent)
    assert driver.topics() == {"t": (len(sent), 1, 0)}


def test_a_duplicate_counts_as_in_kafka(driver: StatsDriver) -> None:
    sent = batch(2, producer_id=7, producer_epoch=0, sequence=0)
    assert outcome(driver.produce(sent)) == outcome(driver.produce(sent)) == (0, 0)
    assert driver.partition.log.end_offset == 2
    assert driver.topics() == {"t": (2 * len(sent), 4, 0)}


@pytest.mark.parametrize("version", [12, 13])
def test_what_consumers_get_counts_and_what_followers_get_does_not(driver: StatsDriver, version: int) -> None:
    driver.produce(3)
    size = driver.partition.log.size
    driver.fetch(0, replica=2, version=version)
    driver.fetch(3, version=version)
    assert driver.all_topics() == (size, 3, 0)
    driver.fetch(0, version=version)
    driver.fetch(0, version=version, max_bytes=size - 1)
    assert driver.topics() == {"t": (size, 3, 2 * size)}


def test_a_fetch_that_waits_counts_once_it_is_answered(driver: StatsDriver) -> None:
    driver.produce(1)
    size = driver.partition.log.size
    waiting = driver.fetch(0, min_bytes=size + 1, wait_ms=500)
    assert waiting.parked
    assert driver.all_topics() == (size, 1, 0)
    driver.produce(1)
    assert not waiting.parked
    assert driver.all_topics() == (2 * size, 2, 2 * size)


def test_the_counters_of_a_topic_end_with_it(driver: StatsDriver) -> None:
    driver.produce(1)
    counted = driver.all_topics()
    driver.cluster.delete_topics([driver.topic])
    assert driver.topics() == {}
    assert driver.all_topics() == counted
    driver.cluster.create_topic("t", [[1, 2]])
    assert driver.topics() == {}


def test_the_counters_of_a_topic_end_with_its_last_replica_on_the_broker(driver: StatsDriver) -> None:
    driver.produce(1)
    counted = driver.all_topics()
    reassignments.begin(driver.partition, [2])
    assert driver.partition.leader == 2
    assert driver.topics() == {}
    assert driver.all_topics() == counted


@pytest.mark.parametrize("down", ["stop_broker", "kill_broker"])
def test_a_broker_that_starts_again_counts_from_0(driver: StatsDriver, down: str) -> None:
    driver.produce(1)
    getattr(driver, down)(1)
    driver.start_broker(1)
    driver.advance(SESSION_MS)
    assert driver.cluster.brokers[1].online
    assert (driver.topics(), driver.all_topics()) == ({}, (0, 0, 0))
    driver.partition.lead(1)
    driver.produce(1)
    assert driver.topics() == {"t": (driver.partition.log.size // 2, 1, 0)}
