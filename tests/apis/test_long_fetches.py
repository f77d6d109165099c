"""A Fetch of many partitions is answered in parts: as at once, and nothing that comes meanwhile is missed."""

import pytest

from mockbroker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from ..driving import wire
from ..driving.cluster import Asked, ClusterDriver, a_cluster

PARTITIONS = 100
WAIT_MS = 60_000
SIZE = len(wire.batch([b"value"]))
FIRST, LAST = 0, PARTITIONS - 1


class ManyPartitions(ClusterDriver):
    def __init__(self, *, in_parts: bool = True) -> None:
        super().__init__(a_cluster(brokers=1))
        self.cluster.work.in_parts = in_parts
        self.cluster.work.at_once = 1
        self.topic = self.cluster.create_topic("t", [[1]] * PARTITIONS)

    def write(self, partition: int) -> None:
        data = PartitionProduceData(partition, wire.batch([b"value"]))
        asked = self.ask(ProduceRequest(None, -1, 1000, [TopicProduceData(self.topic.id, [data], "t")]))
        assert asked.responses[0].partition_responses[0].error_code == 0

    def fetch(self, *, isolation_level: int = 0, min_bytes: int = 1) -> Asked:
        partitions = [FetchPartition(index, partition_max_bytes=1000) for index in range(PARTITIONS)]
        return self.ask(
            FetchRequest(
                max_wait_ms=WAIT_MS,
                min_bytes=min_bytes,
                max_bytes=1_000_000,
                isolation_level=isolation_level,
                session_epoch=-1,
                topics=[FetchTopic(self.topic.id, partitions, "t")],
            )
        )

    def steps(self, most: int | None = None) -> int:
        """How many steps were done until there were none, or the most."""
        count = 0
        while self.cluster.work and count != most:
            self.cluster.work.go_on()
            count += 1
        return count


def found(asked: Asked) -> dict[int, tuple[int, int]]:
    """Error and bytes of each partition that has one of these."""
    (topic,) = asked.responses
    outcome = {
        each.partition_index: (each.error_code, sum(map(len, each.records or ())))
        for each in topic.partitions
    }
    assert len(outcome) == PARTITIONS
    return {index: each for index, each in outcome.items() if any(each)}


def test_it_reads_the_same_in_parts() -> None:
    at_once, parts = ManyPartitions(in_parts=False), ManyPartitions()
    for driver in (at_once, parts):
        driver.write(FIRST)
        driver.write(LAST)
    asked = parts.fetch()
    assert asked.parked
    assert parts.steps() > 5
    assert found(asked) == found(at_once.fetch()) == {FIRST: (0, SIZE), LAST: (0, SIZE)}


@pytest.mark.parametrize("isolation_level", [0, 1])
@pytest.mark.parametrize("partition", [FIRST, LAST])
def test_what_comes_at_any_time_is_not_missed(isolation_level: int, partition: int) -> None:
    driver = ManyPartitions()
    asked = driver.fetch(isolation_level=isolation_level)
    until_it_waits = driver.steps()
    assert asked.parked
    for count in {*range(0, until_it_waits, 5), until_it_waits - 1, until_it_waits}:
        driver = ManyPartitions()
        asked = driver.fetch(isolation_level=isolation_level)
        driver.steps(count)
        driver.write(partition)
        driver.steps()
        assert found(asked) == {partition: (0, SIZE)}, count


def test_it_waits_for_as_many_bytes_as_it_asks_for(driver: ManyPartitions) -> None:
    asked = driver.fetch(min_bytes=2 * SIZE)
    driver.steps()
    driver.write(FIRST)
    assert not driver.steps()
    assert asked.parked
    driver.write(LAST)
    driver.steps()
    assert len(found(asked)) == 2


def test_its_time_is_over(driver: ManyPartitions) -> None:
    asked = driver.fetch()
    driver.steps()
    driver.advance(WAIT_MS - 1)
    driver.steps()
    assert asked.parked
    driver.advance(1)
    driver.steps()
    assert found(asked) == {}
    driver.write(FIRST)
    assert not driver.steps()


def test_its_time_is_over_while_it_looks(driver: ManyPartitions) -> None:
    asked = driver.fetch(isolation_level=1, min_bytes=1000)
    driver.steps()
    driver.write(FIRST)
    driver.steps(2)
    driver.advance(WAIT_MS)
    driver.steps()
    assert found(asked) == {FIRST: (0, SIZE)}


def test_a_topic_is_deleted() -> None:
    at_once, parts = ManyPartitions(in_parts=False), ManyPartitions()
    outcomes = []
    for driver in (at_once, parts):
        asked = driver.fetch()
        driver.steps()
        driver.ask(DeleteTopicsRequest([DeleteTopicState("t")], 1000))
        driver.steps()
        driver.advance(WAIT_MS)
        driver.steps()
        outcomes.append(found(asked))
    assert outcomes[0] == outcomes[1]
    assert len(outcomes[0]) == PARTITIONS
