"""Clients that have drivers: every codec, every assignor, static members, the idempotent producer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockbroker.clients.drivers.in_thread import Client as Driven

from .. import needs
from ..properties import thorough
from ..turns import in_turn
from . import scenario
from .driven import Client
from .kafka_python import HAS, PACKAGES, KafkaAdminClient
from .scenario import PARTITIONS, Plan

Clients = Callable[..., Driven]


PLANS = (
    ("confluent-kafka", "none", "range", False),
    ("confluent-kafka", "gzip", "roundrobin", False),
    ("confluent-kafka", "snappy", "cooperative-sticky", False),
    ("confluent-kafka", "lz4", "range", True),
    ("confluent-kafka", "zstd", "cooperative-sticky", True),
    ("aiokafka", "none", "range", False),
    ("aiokafka", "gzip", "roundrobin", False),
    ("aiokafka", "snappy", "sticky", False),
    ("aiokafka", "lz4", "range", True),
    ("aiokafka", "zstd", "roundrobin", True),
    ("kafka-python", "none", "range", False),
    ("kafka-python", "gzip", "roundrobin", True),
    ("kafka-python", "snappy", "sticky", False),
    ("kafka-python", "lz4", "cooperative-sticky", True),
    ("kafka-python", "zstd", "range", True),
)


@pytest.mark.parametrize(("client", "codec", "assignor", "idempotent"), in_turn(PLANS, 3))
@pytest.mark.usefixtures("without_hints")
def test_group(
    clients: Clients, bootstrap: str, name: str, client: str, codec: str, assignor: str, idempotent: bool
) -> None:
    if client == "kafka-python" and not HAS[codec]():
        needs.missing(f"kafka-python has no {codec} here: install {PACKAGES[codec]}")
    plan = Plan(name, codec, assignor, idempotent=idempotent)
    scenario.check(scenario.run(Client(clients(client), bootstrap), plan))


STATIC = (
    ("confluent-kafka", "lz4", "range"),
    ("confluent-kafka", "lz4", "cooperative-sticky"),
    ("aiokafka", "gzip", "range"),
    ("kafka-python", "gzip", "range"),
)


@pytest.mark.parametrize(("client", "codec", "assignor"), in_turn(STATIC, 2))
def test_static_members(
    clients: Clients, bootstrap: str, name: str, client: str, codec: str, assignor: str
) -> None:
    plan = Plan(name, codec, assignor, static=True)
    scenario.check(scenario.run(Client(clients(client), bootstrap), plan))


JAVA_PLANS = (
    ("none", "range", False, True),
    ("gzip", "roundrobin", False, False),
    ("snappy", "sticky", False, False),
    ("lz4", "cooperative-sticky", True, False),
    ("zstd", "cooperative-sticky", False, False),
)
FEW = {"2.8.2": JAVA_PLANS[1:4:2], "3.9.2": JAVA_PLANS[::4]}
"""Of the older releases, unless the profile is `thorough`."""


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("version", in_turn(["2.8.2", "3.9.2", "4.4.0"], 3))
@pytest.mark.usefixtures("without_hints")
def test_java(clients: Clients, bootstrap: str, name: str, version: str) -> None:
    """Old to new."""
    plans = JAVA_PLANS if thorough() else FEW.get(version, JAVA_PLANS)
    for codec, assignor, static, idempotent in plans:
        plan = Plan(f"{name}-{codec}", codec, assignor, static, idempotent)
        scenario.check(scenario.run(Client(clients("java", version), bootstrap), plan))


@pytest.mark.needs("node", "npm")
@pytest.mark.usefixtures("without_hints")
def test_kafkajs(clients: Clients, bootstrap: str, name: str) -> None:
    """Every codec but zstd, which it has not; its only assignor; the idempotent producer. Its codecs are also
    tried in `drivers/test_shipped.py`."""
    plans = (("none", False), ("gzip", True), ("snappy", False), ("lz4", False))
    for codec, idempotent in in_turn(plans, 4):
        plan = Plan(f"{name}-{codec}", codec, "roundrobin", idempotent=idempotent)
        scenario.check(scenario.run(Client(clients("kafkajs"), bootstrap), plan))


def test_log_dirs(clients: Clients, bootstrap: str, name: str) -> None:
    client = Client(clients("kafka-python"), bootstrap)
    client.create(name)
    client.produce(Plan(name), range(10))
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        brokers = list(admin.describe_log_dirs())
    finally:
        admin.close()
    assert brokers
    for broker in brokers:
        (folder,) = broker["log_dirs"]
        sizes = [p["partition_size"] for t in folder["topics"] if t["name"] == name for p in t["partitions"]]
        assert len(sizes) == PARTITIONS
        assert folder["total_bytes"] - folder["usable_bytes"] >= sum(sizes) > 0
