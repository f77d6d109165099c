"""confluent-kafka: every codec, every assignor, static members, the idempotent producer."""

from __future__ import annotations

import pytest

from . import scenario
from .confluent import Client
from .scenario import Plan


@pytest.mark.parametrize(
    ("codec", "assignor", "idempotent"),
    [
        ("none", "range", False),
        ("gzip", "roundrobin", False),
        ("snappy", "cooperative-sticky", False),
        ("lz4", "range", True),
        ("zstd", "cooperative-sticky", True),
    ],
)
@pytest.mark.usefixtures("without_hints")
def test_group(bootstrap: str, name: str, codec: str, assignor: str, idempotent: bool) -> None:
    plan = Plan(name, codec, assignor, idempotent=idempotent)
    scenario.check(scenario.run(Client(bootstrap), plan))


@pytest.mark.parametrize("assignor", ["range", "cooperative-sticky"])
def test_static_members(bootstrap: str, name: str, assignor: str) -> None:
    plan = Plan(name, "lz4", assignor, static=True)
    scenario.check(scenario.run(Client(bootstrap), plan))
