"""Clients of other languages by TLS: a group and transactions survive what goes wrong at the proxy."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio

from mockbroker import MockCluster, MockProxy, Security
from mockbroker.clients.drivers import command_for, open_driver

from ..clients.drivers.test_shipped import LIMIT_MS, QUICK, ok, produce, read

PASSWORD = "correct horse"
LOGIN = {"mechanism": "SCRAM-SHA-512", "user": "alice", "password": PASSWORD}
BEHIND = Security(tls=True, sasl="SCRAM-SHA-512", users={"alice": PASSWORD})
IN_FRONT = Security(tls=True)
SENT = [b"order 0", b"order 1", b"order 2"]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("client", ["java", "kafkajs"])
def test_a_client_by_tls_on_both_sides(client: str) -> None:
    command = command_for(client)
    with MockCluster(security=BEHIND, topics={"orders": 1}) as cluster:
        ca: Path | None = cluster.do(lambda target: target.access).ca
        with MockProxy(cluster.bootstrap_servers, upstream_ca=ca, security=IN_FRONT) as proxy:
            settings = {**proxy.client_settings("confluent-kafka", **LOGIN), **QUICK}
            lost = proxy.add_fault("disconnect", api="Produce", when="after", times=1)
            busy = {"api": "OffsetCommit", "error": "COORDINATOR_LOAD_IN_PROGRESS", "times": 1}
            refused = proxy.add_fault("error", **busy)
            trio.run(use, command, settings)
            assert (lost.hits, refused.hits, proxy.lines) == (1, 1, [])
        assert [each.value for each in cluster.records("orders")] == SENT
        assert {each.transaction for each in cluster.records("orders")} == {"committed"}
        assert cluster.committed("g")["orders", 0].offset >= len(SENT)


async def use(command: Sequence[str], settings: Mapping[str, Any]) -> None:
    """A transaction, and a member of a group that reads and commits."""
    async with open_driver(command) as driver:
        assert {"idempotence", "transactions", "groups"} <= driver.hello.capabilities
        config = {**settings, "acks": "all", "enable.idempotence": True, "transactional.id": "x"}
        ok(await driver.call("open", "p", LIMIT_MS, kind="producer", config=config))
        ok(await driver.call("begin", "p"))
        for value in SENT:
            await produce(driver, "p", "orders", 0, value)
        ok(await driver.call("commit-transaction", "p", LIMIT_MS))
        group = {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        ok(await driver.call("open", "c", LIMIT_MS, kind="consumer", config={**settings, **group}))
        ok(await driver.call("subscribe", "c", topics=["orders"]))
        assert await read(driver, "c", len(SENT), []) == SENT
        ok(await driver.call("commit", "c", LIMIT_MS))
        for handle in ("c", "p"):
            ok(await driver.call("close", handle, LIMIT_MS))
