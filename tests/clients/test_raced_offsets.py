"""Redpanda's CORE-16998 and CORE-17000: offsets that a transaction has staged, beside an expiry or a plain
commit."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from mockbroker import MockCluster, unchecked

LIMIT_S = 30.0
CONFIG = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"}


class Group:
    """Its offset, by a consumer that commits and by a transactional producer."""

    def __init__(self, cluster: MockCluster) -> None:
        self.cluster = cluster
        common = {"bootstrap.servers": cluster.bootstrap_servers}
        self.consumer = Consumer({**common, "group.id": "g", "enable.auto.commit": False})
        self.producer = Producer({**common, "transactional.id": "tx", "transaction.timeout.ms": 600_000})
        self.producer.init_transactions(LIMIT_S)

    def commit(self, offset: int) -> None:
        self.consumer.commit(offsets=[TopicPartition("orders", 0, offset)], asynchronous=False)

    def stage(self, offset: int) -> None:
        self.producer.begin_transaction()
        whose = self.consumer.consumer_group_metadata()
        self.producer.send_offsets_to_transaction([TopicPartition("orders", 0, offset)], whose, LIMIT_S)

    def committed(self) -> list[int]:
        """What the consumer is told, and once the coordinator has moved; -1001 for nothing."""
        told = []
        for _ in range(2):
            (found,) = self.consumer.committed([TopicPartition("orders", 0)], timeout=LIMIT_S)
            told.append(found.offset)
            if len(told) == 1:
                coordinator = self.cluster.group("g").coordinator
                assert coordinator is not None
                self.cluster.stop_broker(coordinator)
        self.consumer.close()
        return told


@pytest.mark.parametrize(("answer", "told"), [("removed", [5, -1001]), ("waits", [5, 5])])
def test_an_offset_expires_beside_a_transaction(answer: str, told: list[int]) -> None:
    policies = unchecked({"pending-offset-expiry": answer})
    with MockCluster(topics={"orders": 1}, config=CONFIG, policies=policies, clock="manual") as cluster:
        group = Group(cluster)
        group.commit(3)
        cluster.clock.advance("50s")
        group.stage(5)
        cluster.clock.advance("20s")
        group.producer.commit_transaction(LIMIT_S)
        assert group.committed() == told


@pytest.mark.parametrize(("answer", "told"), [("by-memory", [7, 5]), ("marker", [5, 5])])
def test_a_plain_commit_races_a_transaction(answer: str, told: list[int]) -> None:
    policies = unchecked({"raced-transactional-commit": answer})
    with MockCluster(topics={"orders": 1}, policies=policies) as cluster:
        group = Group(cluster)
        group.stage(5)
        group.commit(7)
        group.producer.commit_transaction(LIMIT_S)
        assert group.committed() == told
