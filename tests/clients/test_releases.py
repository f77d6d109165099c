"""Old and new releases of the server, each with three clients."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockbroker.clients.drivers.in_thread import Client as Driven

from .. import needs
from . import scenario
from .driven import Client
from .scenario import Plan

RELEASES = ["0.11", "1.1", "2.1", "2.3", "2.4", "2.8", "3.3", "3.9", "4.0", "4.4"]
ZSTD = RELEASES[2:]
STATIC_MEMBERS = RELEASES[3:]
Clients = Callable[..., Driven]


@pytest.mark.parametrize("release", RELEASES)
def test_confluent_kafka(clients: Clients, bootstrap: str, name: str, release: str) -> None:
    codec = "zstd" if release in ZSTD else "lz4"
    plan = Plan(name, codec, static=release in STATIC_MEMBERS, idempotent=True)
    scenario.check(scenario.run(Client(clients("confluent-kafka"), bootstrap), plan))


@pytest.mark.parametrize("release", RELEASES)
def test_kafka_python(clients: Clients, bootstrap: str, name: str, release: str) -> None:
    plan = Plan(name, "gzip", "roundrobin", idempotent=True)
    scenario.check(scenario.run(Client(clients("kafka-python"), bootstrap), plan))


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("release", RELEASES[2:])
def test_java(clients: Clients, bootstrap: str, name: str, release: str) -> None:
    """The newest Java client needs 2.1. It is idempotent by itself."""
    plan = Plan(name, "zstd", "cooperative-sticky", static=release in STATIC_MEMBERS)
    scenario.check(scenario.run(Client(clients("java"), bootstrap), plan))
