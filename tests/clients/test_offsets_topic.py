"""Kafka's own formatters read what brokers of several releases write to `__consumer_offsets`."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest
from confluent_kafka import Consumer

from mockbroker import MockCluster
from mockbroker.names import ReleaseName

from .. import needs
from .console import tool
from .scenario import TIMEOUT

TOPIC = "__consumer_offsets"
FORMATTER = "org.apache.kafka.tools.consumer.{}MessageFormatter"


def read(bootstrap: str, formatter: str, count: int) -> list[Any]:
    """What the console consumer makes of so many records; a formatter passes over those of other kinds."""
    command = tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", bootstrap, "--topic", TOPIC, "--from-beginning"),
        *("--formatter", FORMATTER.format(formatter), "--max-messages", str(count)),
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    # It ends no line.
    return list(json.loads(f"[{done.stdout.replace('}{', '},{')}]"))


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize(("release", "commits", "groups"), [("2.0", 1, 1), ("2.2", 3, 2), ("4.4", 4, 3)])
def test_the_formatters_read_what_is_written(release: ReleaseName, commits: int, groups: int) -> None:
    config = {"offsets.topic.num.partitions": "1"}
    with MockCluster(kafka=release, brokers=1, topics={"orders": 1}, config=config) as cluster:
        cluster.produce("orders", "one")
        settings = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "client.id": "reader"}
        consumer = Consumer({**settings, "auto.offset.reset": "earliest", "enable.auto.commit": False})
        consumer.subscribe(["orders"])
        message = consumer.poll(TIMEOUT)
        assert message is not None
        assert message.value() == b"one"
        assert consumer.commit(message=message, asynchronous=False)[0].error is None
        consumer.close()
        count = len(cluster.records(TOPIC))
        offsets = read(cluster.bootstrap_servers, "Offsets", count)
        generations = read(cluster.bootstrap_servers, "GroupMetadata", count)

    (offset,) = offsets
    assert offset["key"] == {"type": 1, "data": {"group": "g", "topic": "orders", "partition": 0}}
    assert offset["value"]["version"] == commits
    assert offset["value"]["data"]["offset"] == 1

    assert {each["key"]["data"]["group"] for each in generations} == {"g"}
    assert {each["value"]["version"] for each in generations} == {groups}
    *_, stable, empty = (each["value"]["data"] for each in generations)
    (member,) = stable["members"]
    assert (stable["generation"], stable["protocolType"]) == (1, "consumer")
    assert member["clientId"] == "reader"
    assert (empty["generation"], empty["members"]) == (2, [])
