"""Idempotent producers that outlive their records (KIP-185, KAFKA-7190, KIP-360), and ones that lost them."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster

from .scenario import TIMEOUT

LAG = {"replica.lag.time.max.ms": "500"}


class Sender:
    """A producer that sends one record after the other, and what became of each: its offset or its error."""

    def __init__(self, bootstrap: str) -> None:
        self.outcomes: list[Any] = []
        self.producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "topic.metadata.refresh.interval.ms": 200,
                "logger": logging.getLogger(__name__),
            }
        )

    def delivered(self, error: Any, message: Any) -> None:
        self.outcomes.append(error.name() if error else message.offset())

    def send(self) -> None:
        try:
            self.producer.produce("t", b"v", partition=0, on_delivery=self.delivered)
            self.producer.flush(TIMEOUT)
        except (KafkaException, SystemError):
            # A fatal error is raised from wherever it is noticed.
            self.outcomes.append("fatal")


def delete_all(cluster: MockCluster) -> None:
    """DeleteRecords up to the log end, as retention would."""
    end = cluster.replicas("t", 0)[0].log_end_offset
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    for done in admin.delete_records([TopicPartition("t", 0, end)]).values():
        assert done.result(TIMEOUT).low_watermark == end


def outlive(kafka: str, policies: dict[str, str]) -> list[Any]:
    """What becomes of three records, and of two more after all were deleted."""
    with MockCluster(kafka=kafka, brokers=2, topics={"t": 1}, policies=policies) as cluster:
        sender = Sender(cluster.bootstrap_servers)
        for _ in range(3):
            sender.send()
        delete_all(cluster)
        for _ in range(2):
            sender.send()
    return sender.outcomes


@pytest.mark.parametrize(
    ("kafka", "policies"),
    [
        ("1.0", {}),
        ("2.3", {}),
        ("2.4", {}),
        ("4.4", {}),
        ("4.4", {"producer-state-retention": "with-records", "unknown-producer": "unknown-producer-id"}),
    ],
)
def test_an_idle_producer_outlives_its_records(kafka: str, policies: dict[str, str]) -> None:
    """From 1.0 on the client sees that retention took them, or the broker has not forgotten it at all."""
    assert outlive(kafka, policies) == [0, 1, 2, 3, 4]


AS_0_11 = {"producer-state-retention": "with-records", "unknown-producer": "out-of-order-sequence-number"}


@pytest.mark.parametrize(("kafka", "policies"), [("0.11", {}), ("4.4", AS_0_11)])
def test_0_11_calls_it_out_of_order(kafka: str, policies: dict[str, str]) -> None:
    """The spurious error: nothing was lost, and yet it is the end of the producer."""
    outcomes = outlive(kafka, policies)
    assert outcomes[:3] == [0, 1, 2]
    assert outcomes[-1] == "fatal"
    assert not any(isinstance(outcome, int) for outcome in outcomes[3:])


@pytest.mark.parametrize("kafka", ["0.11", "2.3", "2.4", "4.4"])
def test_true_loss_is_reported(kafka: str) -> None:
    """An unclean election takes acknowledged records: the log start offset stays, the sequence has a gap."""
    config = {"default.replication.factor": "2", "unclean.leader.election.enable": "true", **LAG}
    with MockCluster(kafka=kafka, brokers=2, topics={"t": 1}, config=config) as cluster:
        sender = Sender(cluster.bootstrap_servers)
        sender.send()
        cluster.pause_follower("t", 0, 2)
        sender.send()
        assert [replica.in_sync for replica in cluster.replicas("t", 0)] == [True, False]
        sender.send()
        cluster.stop_broker(1)
        assert [replica.log_end_offset for replica in cluster.replicas("t", 0)] == [3, 1]
        sender.send()
    assert sender.outcomes[:3] == [0, 1, 2]
    assert "OUT_OF_ORDER_SEQUENCE_NUMBER" in sender.outcomes[3:] or "fatal" in sender.outcomes[3:]
    assert not any(isinstance(outcome, int) for outcome in sender.outcomes[3:])
