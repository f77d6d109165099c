"""KAFKA-19999: a coordinator moves while it sends markers, and the next one sends them again."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker import MockCluster, unchecked
from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import Client, open_client
from mockbroker.clients.drivers.lines import Refusal

from .. import needs
from ..driving.until import until

LIMIT_MS = 30_000
TX = "tx"


def stable(cluster: MockCluster, topic: str) -> int:
    return cluster.topic(topic).partitions[0].last_stable_offset


def write(client: Client, *topics: str) -> list[Refusal | None]:
    """The errors, by topic."""
    client.call("begin", "p")
    sent = [client.send("produce", "p", topic=each, partition=0, key=None, value=b"v") for each in topics]
    client.call("flush", "p", LIMIT_MS)
    return [each.result().error for each in sent]


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("answer", ["refused", "accepted-at-limit"])
def test_the_next_transaction(answer: str) -> None:
    """The last one ends only if partitions that have their markers take them again."""
    policies = unchecked({"same-epoch-marker": answer, "leaderless-marker": "waits"})
    with (
        MockCluster(brokers=4, policies=policies) as cluster,
        open_client(command_for("java", "4.4.0")) as client,
    ):
        config: dict[str, Any] = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "transactional.id": TX,
            "linger.ms": 0,
            "request.timeout.ms": 2_000,
            "delivery.timeout.ms": 3_000,
        }
        client.call("open", "p", LIMIT_MS, kind="producer", config=config)
        first = cluster.transaction(TX).coordinator
        other, alone = [each for each in (2, 3, 4) if each != first][:2]
        cluster.create_topic("orders", replica_assignment=[[other]])
        cluster.create_topic("alone", replica_assignment=[[alone]])
        assert write(client, "orders", "alone") == [None, None]
        cluster.stop_broker(alone)
        client.call("commit-transaction", "p", LIMIT_MS)
        until(lambda: stable(cluster, "orders") == 2, "the marker in orders")
        assert first is not None
        cluster.stop_broker(first)
        cluster.start_broker(alone)
        (error,) = write(client, "orders")
        if answer == "refused":
            assert error is not None
            assert stable(cluster, "alone") == 0
            assert cluster.transaction(TX).state == "PrepareCommit"
        else:
            assert error is None
            client.call("commit-transaction", "p", LIMIT_MS)
            until(lambda: cluster.transaction(TX).state == "CompleteCommit", "the end of the transaction")
            assert stable(cluster, "alone") == 2
