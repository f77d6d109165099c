"""Clients push the metrics that a subscription asks for (KIP-714)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster, TelemetryClient
from mockbroker.clients.drivers.in_thread import Client as Driven
from mockbroker.rig.client import Client

from .. import needs
from . import driven, scenario
from .scenario import MANY, TIMEOUT, Plan

Clients = Callable[..., Driven]
INTERVAL_MS = 100


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    config = {"mockbroker.client.telemetry": "true", "group.initial.rebalance.delay.ms": "0"}
    with MockCluster(brokers=3, config=config) as cluster:
        yield cluster


def subscribe(cluster: MockCluster, **values: str) -> None:
    """`_` stands for `.` in keys."""
    host, _, port = cluster.bootstrap_servers.split(",")[0].partition(":")
    changes = [
        {"name": key.replace("_", "."), "config_operation": 0, "value": text} for key, text in values.items()
    ]
    resource = {"resource_type": 16, "resource_name": "all", "configs": changes}
    with Client(host, int(port)) as client:
        fields = {"resources": [resource], "validate_only": False}
        (answer,) = client.call("incremental_alter_configs", 1, fields)["responses"]
    assert answer["error_code"] == "NONE", answer


def pushing(cluster: MockCluster) -> list[TelemetryClient]:
    return [each for each in cluster.telemetry() if each.pushes]


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.usefixtures("without_hints")
def test_java_pushes(clients: Clients, cluster: MockCluster, name: str) -> None:
    metrics = "org.apache.kafka.producer.,org.apache.kafka.consumer."
    subscribe(cluster, metrics=metrics, interval_ms=str(INTERVAL_MS))
    java = driven.Client(clients("java"), cluster.bootstrap_servers)
    scenario.check(scenario.run(java, Plan(name)))
    found = pushing(cluster)
    assert {(each.software_name, each.software_version) for each in found} == {("apache-kafka-java", "4.4.0")}
    assert {each.push_interval_ms for each in found} == {INTERVAL_MS}
    assert {frozenset(each.requested_metrics) for each in found} == {frozenset(metrics.split(","))}
    pushed = b"".join(each.last_push for each in found)
    assert b"org.apache.kafka.producer." in pushed
    assert b"org.apache.kafka.consumer." in pushed
    assert b"org.apache.kafka.admin" not in pushed


def test_confluent_kafka_pushes_what_it_is_asked_for(cluster: MockCluster) -> None:
    subscribe(cluster, metrics="org.apache.kafka.producer.connection.", interval_ms=str(INTERVAL_MS))
    pushes = cluster.on("PushTelemetry", lambda _: None)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "me"})
    producer.produce("t", "v")
    assert producer.flush(TIMEOUT) == 0
    pushes.wait(3, timeout=TIMEOUT)
    (found,) = pushing(cluster)
    assert found.client_id == "me"
    assert found.requested_metrics == ("org.apache.kafka.producer.connection.",)
    assert found.pushed_bytes >= found.pushes > 0
    assert b"org.apache.kafka.producer.connection.creation.total" in found.last_push


def test_a_client_that_nothing_matches_pushes_nothing(cluster: MockCluster) -> None:
    subscribe(cluster, metrics="*", interval_ms=str(INTERVAL_MS), match="client_id=somebody")
    asked = cluster.on("GetTelemetrySubscriptions", lambda _: None, when="after")
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "me"})
    producer.produce("t", "v")
    assert producer.flush(TIMEOUT) == 0
    asked.wait(1, timeout=TIMEOUT)
    (found,) = cluster.telemetry()
    assert (found.client_id, found.requested_metrics, found.pushes) == ("me", (), 0)


def test_brokers_do_not_ask_for_metrics_unless_they_are_configured_so() -> None:
    with MockCluster() as cluster:
        subscribe(cluster, metrics="*", interval_ms=str(INTERVAL_MS))
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        producer.produce("t", "v")
        assert producer.flush(TIMEOUT) == 0
        assert cluster.telemetry() == ()


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.usefixtures("without_hints")
@pytest.mark.parametrize("answer", ["invalid-record", "telemetry-too-large"])
def test_java_never_pushes_again_after_invalid_record(
    clients: Clients, name: str, answer: Literal["invalid-record", "telemetry-too-large"]
) -> None:
    """KAFKA-21076: its metrics are small when they come, and too large when they are decompressed."""
    config = {"mockbroker.client.telemetry": "true", "telemetry.max.bytes": "8000"}
    with MockCluster(config=config, policies={"large-telemetry": answer}, trace=True) as cluster:
        subscribe(cluster, metrics="org.apache.kafka.consumer.", interval_ms=str(INTERVAL_MS))
        java = driven.Client(clients("java"), cluster.bootstrap_servers)
        scenario.run(java, Plan(name, records=MANY))
        pushed = [each.row()["body"] for each in cluster.trace.events("request", api="PushTelemetry")]
        told = [each.row()["errors"] for each in cluster.trace.events("answer", api="PushTelemetry")]
    error = answer.upper().replace("-", "_")
    # Of each client, once it has been refused. What it pushes as it is closed may be on its way already.
    after_it: dict[str, int] = {}
    for each, errors in zip(pushed, told, strict=True):
        client = each["client_instance_id"]
        if client in after_it:
            after_it[client] += not each["terminating"]
        elif errors:
            after_it[client] = 0
    assert {name for errors in told for name in errors} == {error}
    assert (max(after_it.values()) == 0) is (answer == "invalid-record")
