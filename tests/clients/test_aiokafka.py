"""aiokafka: every codec, every assignor, static members, the idempotent producer."""

from __future__ import annotations

import pytest

from . import scenario
from .aio import Client, Loop
from .scenario import Plan


@pytest.mark.parametrize(
    ("codec", "assignor", "idempotent"),
    [
        ("none", "range", False),
        ("gzip", "roundrobin", False),
        ("snappy", "sticky", False),
        ("lz4", "range", True),
        ("zstd", "roundrobin", True),
    ],
)
@pytest.mark.usefixtures("without_hints")
def test_group(bootstrap: str, name: str, codec: str, assignor: str, idempotent: bool) -> None:
    plan = Plan(name, codec, assignor, idempotent=idempotent)
    with Loop() as loop:
        scenario.check(scenario.run(Client(loop, bootstrap), plan))


def test_static_members(bootstrap: str, name: str) -> None:
    with Loop() as loop:
        scenario.check(scenario.run(Client(loop, bootstrap), Plan(name, "gzip", static=True)))
