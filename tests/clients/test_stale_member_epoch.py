"""STALE_MEMBER_EPOCH when a member of a KIP-848 group asks where to begin: it has not heard of its new epoch.

@platformatic/kafka 1.30.0 began at the end then, and skipped what it had not read (platformatic/kafka 267).
"""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker import MockCluster
from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import open_client
from mockbroker.names import Fault

from .. import needs

LIMIT_MS = 30_000
POLL_MS = 100
STALE: Fault = {"do": "error", "api": "OffsetFetch", "error": "STALE_MEMBER_EPOCH", "times": 1}
CLIENTS = [
    pytest.param("java", "4.4.0", marks=pytest.mark.needs(*needs.JAVA)),
    pytest.param("platformatic-kafka", None, marks=pytest.mark.needs(*needs.CLIENTS["kafkajs"])),
]


@pytest.mark.parametrize(("client", "release"), CLIENTS)
def test_members_ask_again_where_to_begin(client: str, release: str | None) -> None:
    with (
        MockCluster(topics={"orders": 1}, faults=[STALE]) as cluster,
        open_client(command_for(client, release)) as driver,
    ):
        for number in range(5):
            cluster.produce("orders", f"{number}")
        cluster.alter_offset("g", "orders", 0, 3)
        config: dict[str, Any] = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "g",
            "group.protocol": "consumer",
            "auto.offset.reset": "latest",
        }
        driver.call("open", "c", LIMIT_MS, kind="consumer", config=config)
        driver.call("subscribe", "c", topics=["orders"])
        found: list[Any] = []
        while not found:
            found = driver.call("poll", "c", POLL_MS)["records"]
    assert found[0]["offset"] == 3
