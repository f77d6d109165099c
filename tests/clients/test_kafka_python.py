"""kafka-python: every codec, every assignor, static members, the idempotent producer."""

from __future__ import annotations

import pytest

from .. import needs
from . import scenario
from .kafka_python import HAS, PACKAGES, Client
from .scenario import Plan


@pytest.mark.parametrize(
    ("codec", "assignor", "idempotent"),
    [
        ("none", "range", False),
        ("gzip", "roundrobin", True),
        ("snappy", "sticky", False),
        ("lz4", "cooperative-sticky", True),
        ("zstd", "range", True),
    ],
)
@pytest.mark.usefixtures("without_hints")
def test_group(bootstrap: str, name: str, codec: str, assignor: str, idempotent: bool) -> None:
    if not HAS[codec]():
        needs.missing(f"kafka-python has no {codec} here: install {PACKAGES[codec]}")
    plan = Plan(name, codec, assignor, idempotent=idempotent)
    scenario.check(scenario.run(Client(bootstrap), plan))


def test_static_members(bootstrap: str, name: str) -> None:
    scenario.check(scenario.run(Client(bootstrap), Plan(name, "gzip", static=True)))
