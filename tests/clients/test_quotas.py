"""Clients that are over their quotas wait, and lose nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Producer

from mockbroker import MockCluster
from mockbroker.clients.drivers.in_thread import Client as Driven
from mockbroker.rig.client import Client

from .. import needs
from . import driven, scenario
from .scenario import MANY, TIMEOUT, Plan

Clients = Callable[..., Driven]
RATE = 200_000
"""Bytes per second; with two windows as many may come at once."""
RECORDS = 500
SIZE = 1_000


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    config = {"quota.window.num": "2", "group.initial.rebalance.delay.ms": "0"}
    with MockCluster(config=config, trace=True) as cluster:
        yield cluster


def limit(cluster: MockCluster, **values: float) -> None:
    """Sets the quotas of all client ids that have none of their own."""
    host, _, port = cluster.bootstrap_servers.split(",")[0].partition(":")
    ops = [{"key": key, "value": value, "remove": False} for key, value in values.items()]
    entity = [{"entity_type": "client-id", "entity_name": None}]
    with Client(host, int(port)) as client:
        fields = {"entries": [{"entity": entity, "ops": ops}], "validate_only": False}
        (answer,) = client.call("alter_client_quotas", 1, fields)["entries"]
    assert answer["error_code"] == "NONE", answer


def test_confluent_kafka_waits_and_loses_nothing(cluster: MockCluster) -> None:
    limit(cluster, producer_byte_rate=RATE, consumer_byte_rate=RATE)
    produced: list[float] = []
    consumed: list[float] = []
    common = {"bootstrap.servers": cluster.bootstrap_servers}
    slow = {"throttle_cb": lambda event: produced.append(event.throttle_time), "batch.size": 50_000}
    producer = Producer({**common, **slow, "client.id": "producer"})
    values = [f"{number:0{SIZE}}" for number in range(RECORDS)]
    for value in values:
        producer.produce("t", value)
    assert producer.flush(TIMEOUT) == 0
    assert max(produced) > 0

    config = {"group.id": "g", "auto.offset.reset": "earliest", "max.partition.fetch.bytes": 100_000}
    slow = {"throttle_cb": lambda event: consumed.append(event.throttle_time)}
    consumer = Consumer({**common, **config, **slow, "client.id": "consumer"})
    consumer.subscribe(["t"])
    read: list[str] = []
    while len(read) < RECORDS:
        message = consumer.poll(TIMEOUT)
        assert message is not None, f"{len(read)} records came"
        assert message.error() is None
        came = message.value()
        assert came is not None
        read.append(came.decode())
    consumer.close()
    assert read == values
    assert max(consumed) > 0


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.usefixtures("without_hints")
def test_java_waits_and_loses_nothing(clients: Clients, cluster: MockCluster, name: str) -> None:
    limit(cluster, producer_byte_rate=RATE / 4, consumer_byte_rate=RATE / 2)
    java = driven.Client(clients("java"), cluster.bootstrap_servers)
    scenario.check(scenario.run(java, Plan(name, records=MANY)))
    for api in ("Produce", "Fetch"):
        told = [each.row()["body"]["throttle_time_ms"] for each in cluster.trace.events("answer", api=api)]
        assert max(told) > 0, api
