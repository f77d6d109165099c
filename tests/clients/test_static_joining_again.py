"""A static member of a consumer group does not hear that it has joined, and joins again."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker import MockCluster, unchecked
from mockbroker.clients.drivers import command_for
from mockbroker.clients.drivers.in_thread import Client, RefusedError, open_client
from mockbroker.names import Fault

LIMIT_MS = 30_000
POLL_MS = 100
LOST: Fault = {"do": "disconnect", "api": "ConsumerGroupHeartbeat", "when": "after", "times": 1}
CLIENTS = {"confluent-kafka": ("confluent-kafka", None), "java-4.4": ("java", "4.4.0")}


def told(client: Client, servers: str) -> list[str]:
    """What the application hears first: an error, or that partitions were assigned."""
    config: dict[str, Any] = {
        "bootstrap.servers": servers,
        "group.id": "g",
        "group.instance.id": "i",
        "group.protocol": "consumer",
    }
    heard: list[str] = []
    client.call("open", "c", LIMIT_MS, kind="consumer", config=config)
    client.listen("c", lambda event, line: heard.append(event) if line.get("partitions") else None)
    client.call("subscribe", "c", topics=["orders"])
    while not heard:
        try:
            polled = client.call("poll", "c", POLL_MS)
        except RefusedError as error:
            return [str(error)]
        if errors := polled.get("errors"):
            return [each["message"] for each in errors]
    return heard


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("answer", ["unreleased", "accepted"])
def test_a_static_member_whose_first_answer_is_lost(client: str, answer: str) -> None:
    policies = unchecked({"static-joining-again": answer})
    with (
        MockCluster(topics={"orders": 2}, policies=policies, faults=[LOST]) as cluster,
        open_client(command_for(*CLIENTS[client])) as driver,
    ):
        heard = told(driver, cluster.bootstrap_servers)
    if answer == "accepted":
        assert heard == ["assigned"]
    else:
        assert any("instance id" in each.lower() for each in heard), heard
