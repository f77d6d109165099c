"""KAFKA-20090: a transaction times out in the last epoch that clients get, and its producer goes on."""

from __future__ import annotations

from typing import Any, Final

import pytest

from mockbroker import MockCluster, unchecked
from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import Client, RefusedError, open_client
from mockbroker.rig.client import Client as Asking

from .. import needs
from ..driving.until import until

LIMIT_MS: Final = 30_000
LAST_OF_CLIENTS: Final = 32_766
TX: Final = "orders-tx"
_AT_ONCE: Final = 256
_CONFIG: Final = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "100"}


def use_up_epochs(cluster: MockCluster) -> None:
    """All but the last one that clients get, by so many instances of the producer."""
    host, _, port = cluster.bootstrap_servers.partition(":")
    fields = {"transactional_id": TX, "transaction_timeout": 60_000, "producer_id": -1, "producer_epoch": -1}
    with Asking(host, int(port)) as client:
        client.call("find_coordinator", 4, {"key_type": 1, "coordinator_keys": [TX]})
        left = LAST_OF_CLIENTS
        while left:
            asked = [client.send("init_producer_id", 4, fields) for _ in range(min(left, _AT_ONCE))]
            answers = [client.receive(each) for each in asked]
            left -= sum(answer["error_code"] == "NONE" for answer in answers)


def producer(client: Client, cluster: MockCluster, name: str) -> None:
    config: dict[str, Any] = {
        "bootstrap.servers": cluster.bootstrap_servers,
        "transactional.id": TX,
        "transaction.timeout.ms": 1_000,
        "max.block.ms": 5_000,
    }
    client.call("open", name, LIMIT_MS, kind="producer", config=config)


def write(client: Client, name: str) -> None:
    client.call("begin", name)
    sent = client.send("produce", name, topic="orders", partition=0, key=None, value=b"an order")
    client.call("flush", name, LIMIT_MS)
    assert sent.result().error is None


@pytest.mark.needs(*needs.JAVA)
def test_a_transaction_times_out_in_the_last_epoch() -> None:
    """It can't be aborted, until brokers have the fix."""
    policies = unchecked({"exhausted-epochs": "stuck"})
    with (
        MockCluster(brokers=1, topics={"orders": 1}, config=_CONFIG, policies=policies) as cluster,
        open_client(command_for("java", "4.4.0")) as client,
    ):
        use_up_epochs(cluster)
        producer(client, cluster, "first")
        assert cluster.transaction(TX).producer_epoch == LAST_OF_CLIENTS
        write(client, "first")
        until(lambda: cluster.transaction(TX).state == "CompleteAbort", "the timeout")
        client.call("abort-transaction", "first", LIMIT_MS)
        write(client, "first")
        with pytest.raises(RefusedError, match=r"UnknownServer|unexpected error"):
            producer(client, cluster, "second")
        assert cluster.transaction(TX).producer_epoch == LAST_OF_CLIENTS + 1
        assert cluster.topic("orders").partitions[0].last_stable_offset == 2
        cluster.policies.set("exhausted-epochs", "recovers")
        producer(client, cluster, "third")
        assert cluster.topic("orders").partitions[0].last_stable_offset == 4
