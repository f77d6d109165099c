"""A user's test, with five clients: the cluster that it wants, what goes wrong, and that it did."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockbroker import MockCluster
from mockbroker.clients.drivers.in_thread import Client as Driven
from mockbroker.clients.drivers.in_thread import taken

from .driven import LIMIT_MS, Client
from .scenario import TIMEOUT

COUNT = 4
CLIENTS = pytest.mark.parametrize(
    "client", ["confluent-kafka", "aiokafka", "kafka-python", "java-4.4.0", "kafkajs"]
)


@CLIENTS
@pytest.mark.mockbroker(
    kafka="3.9",
    topics={"orders": 1},
    config={"default.replication.factor": "3"},
    faults=[
        {"do": "disconnect", "api": "Produce", "topic": "orders", "when": "after", "times": 1},
        {"do": "move-leader", "api": "Produce", "topic": "orders", "nth": 3},
    ],
)
def test_orders_survive_a_lost_answer_and_a_new_leader(
    clients: Callable[..., Driven], mock_cluster: MockCluster, client: str
) -> None:
    driven = Client(clients(client.partition("-4")[0]), mock_cluster.bootstrap_servers)
    producer = driven.open("producer", {"acks": "all", "enable.idempotence": False, "retry.backoff.ms": 20})
    for number in range(COUNT):
        sent = driven.send(producer, "orders", b"order %d" % number)
        driven.driven.call("flush", producer, LIMIT_MS)
        taken(sent.result(TIMEOUT))
    driven.close(producer)
    leader = mock_cluster.replicas("orders", 0)[1]
    assert (leader.state, leader.in_sync) == ("leader", True)
    # The first was written twice: none of these producers is idempotent.
    assert leader.log_end_offset == COUNT + 1
    refused = mock_cluster.trace.events("answer", api="Produce", errors=("NOT_LEADER_OR_FOLLOWER",))
    # Once for the move, and again for a client that resends before its metadata is new.
    assert {each.row()["names"] for each in refused} == {("orders-0",)}
