"""Old and new releases of the server, each with one of three clients; all with the profile `thorough`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockbroker.clients.drivers.in_thread import Client as Driven

from .. import needs
from ..properties import thorough
from ..turns import in_turn
from . import scenario
from .driven import Client
from .scenario import Plan

RELEASES = ["0.11", "1.1", "2.1", "2.3", "2.4", "2.8", "3.3", "3.9", "4.0", "4.4"]
ZSTD = RELEASES[2:]
STATIC_MEMBERS = RELEASES[3:]
Clients = Callable[..., Driven]


def tried(*few: str, first: int = 0) -> list[str]:
    """The releases that one client is tried with: `few`, or all from the `first` that it can."""
    return RELEASES[first:] if thorough() else in_turn(few, 2)


@pytest.mark.parametrize("release", tried("0.11", "2.1", "2.8", "4.0"))
def test_confluent_kafka(clients: Clients, bootstrap: str, name: str, release: str) -> None:
    codec = "zstd" if release in ZSTD else "lz4"
    plan = Plan(name, codec, static=release in STATIC_MEMBERS, idempotent=True)
    scenario.check(scenario.run(Client(clients("confluent-kafka"), bootstrap), plan))


@pytest.mark.parametrize("release", tried("0.11", "1.1", "2.4", "3.9"))
def test_kafka_python(clients: Clients, bootstrap: str, name: str, release: str) -> None:
    plan = Plan(name, "gzip", "roundrobin", idempotent=True)
    scenario.check(scenario.run(Client(clients("kafka-python"), bootstrap), plan))


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("release", tried("2.1", "2.3", "3.3", "4.4", first=2))
def test_java(clients: Clients, bootstrap: str, name: str, release: str) -> None:
    """The newest Java client needs 2.1. It is idempotent by itself."""
    plan = Plan(name, "zstd", "cooperative-sticky", static=release in STATIC_MEMBERS)
    scenario.check(scenario.run(Client(clients("java"), bootstrap), plan))
