"""KAFKA-19233: a member of a consumer group is fenced, and joins again with epoch 0."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewPartitions

from mockbroker import MockCluster, unchecked

CONFIG = {
    "group.consumer.heartbeat.interval.ms": "100",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.min.session.timeout.ms": "3000",
    "group.consumer.session.timeout.ms": "3000",
}
MOST_POLLS = 300


class Member:
    """`assigned` are the numbers of partitions that it was given."""

    def __init__(self, cluster: MockCluster) -> None:
        self.assigned: list[int] = []
        self.consumer = Consumer(
            {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "group.protocol": "consumer"}
        )
        self.consumer.subscribe(["orders"], on_assign=lambda _, given: self.assigned.append(len(given)))

    def poll_until(self, assigned: list[int]) -> None:
        for _ in range(MOST_POLLS):
            if self.assigned == assigned:
                return
            self.consumer.poll(0.1)
        raise AssertionError(self.assigned)


@pytest.mark.parametrize("answer", ["fenced", "accepted"])
def test_a_member_that_was_fenced(answer: str) -> None:
    """It is let in at once, or when its session is over; it has seen more than one epoch."""
    policies = unchecked({"joining-again": answer})
    with MockCluster(topics={"orders": 1}, config=CONFIG, policies=policies, trace=True) as cluster:
        member = Member(cluster)
        member.poll_until([1])
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        admin.create_partitions([NewPartitions("orders", 3)])["orders"].result()
        member.poll_until([1, 2])
        cluster.faults.add(
            "error", api="ConsumerGroupHeartbeat", error="FENCED_MEMBER_EPOCH", when="instead", times=1
        )
        member.poll_until([1, 2, 3])
        member.consumer.close()
        answers = cluster.trace.events("answer", api="ConsumerGroupHeartbeat")
    refused = ["FENCED_MEMBER_EPOCH" in each.row()["errors"] for each in answers].count(True)
    assert refused == 1 if answer == "accepted" else refused > 1
