"""Old and new releases of the server, each with three clients."""

from __future__ import annotations

import pytest

from .. import needs
from . import confluent, java, kafka_python, scenario
from .scenario import Plan

RELEASES = ["0.11", "1.1", "2.1", "2.3", "2.4", "2.8", "3.3", "3.9", "4.0", "4.4"]
ZSTD = RELEASES[2:]
STATIC_MEMBERS = RELEASES[3:]


@pytest.mark.parametrize("release", RELEASES)
def test_confluent_kafka(bootstrap: str, name: str, release: str) -> None:
    plan = Plan(
        name,
        "zstd" if release in ZSTD else "lz4",
        static=release in STATIC_MEMBERS,
        idempotent=True,
    )
    scenario.check(scenario.run(confluent.Client(bootstrap), plan))


@pytest.mark.parametrize("release", RELEASES)
def test_kafka_python(bootstrap: str, name: str, release: str) -> None:
    plan = Plan(name, "gzip", "roundrobin", idempotent=True)
    scenario.check(scenario.run(kafka_python.Client(bootstrap), plan))


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("release", RELEASES[2:])
def test_java(bootstrap: str, name: str, release: str) -> None:
    """The newest Java client needs 2.1. It is idempotent by itself."""
    plan = Plan(name, "zstd", "cooperative-sticky", static=release in STATIC_MEMBERS)
    (events,) = java.run("4.4.0", bootstrap, [plan])
    scenario.check(events)
