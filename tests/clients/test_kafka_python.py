"""kafka-python: every codec, every assignor, static members, the idempotent producer."""

from __future__ import annotations

import pytest

from .. import needs
from . import scenario
from .kafka_python import HAS, PACKAGES, Client
from .scenario import PARTITIONS, Plan


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


def test_log_dirs(bootstrap: str, name: str) -> None:
    client = Client(bootstrap)
    client.create(name)
    client.produce(Plan(name), range(10))
    brokers = client.log_dirs()
    assert brokers
    for broker in brokers:
        (folder,) = broker["log_dirs"]
        sizes = [p["partition_size"] for t in folder["topics"] if t["name"] == name for p in t["partitions"]]
        assert len(sizes) == PARTITIONS
        assert folder["total_bytes"] - folder["usable_bytes"] >= sum(sizes) > 0
