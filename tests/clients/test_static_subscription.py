"""A static member comes back within its session, and subscribes to one more topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from mockbroker import MockCluster, unchecked
from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import Client, open_client

LIMIT_MS = 30_000
POLL_MS = 100
CLIENTS = {"confluent-kafka": ("confluent-kafka", None), "java-4.4": ("java", "4.4.0")}


def assigned(client: Client, name: str, config: Mapping[str, Any], *topics: str) -> set[str]:
    """The topics of the first partitions that a new consumer is assigned. It is closed after that."""
    given: list[set[str]] = []

    def hear(event: str, line: Mapping[str, Any]) -> None:
        if event == "assigned" and line["partitions"]:
            given.append({topic for topic, *_ in line["partitions"]})

    client.call("open", name, LIMIT_MS, kind="consumer", config=dict(config))
    client.listen(name, hear)
    client.call("subscribe", name, topics=list(topics))
    while not given:
        client.call("poll", name, POLL_MS)
    client.call("close", name, LIMIT_MS)
    return given[0]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("answer", "gets"), [("kept", {"orders"}), ("rebalance", {"orders", "refunds"})])
def test_a_static_member_that_subscribes_to_more(client: str, answer: str, gets: set[str]) -> None:
    policies = unchecked({"static-subscription": answer})
    with (
        MockCluster(topics={"orders": 1, "refunds": 1}, policies=policies) as cluster,
        open_client(command_for(*CLIENTS[client])) as driver,
    ):
        config = {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "g",
            "group.instance.id": "i",
            "session.timeout.ms": 30_000,
        }
        assert assigned(driver, "before", config, "orders") == {"orders"}
        assert assigned(driver, "after", config, "orders", "refunds") == gets
