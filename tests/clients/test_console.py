"""Kafka's console producer and consumer: every codec. They partition by key and have one assignor."""

from __future__ import annotations

import pytest

from .. import needs
from . import scenario
from .console import Client
from .scenario import Plan


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_group(bootstrap: str, name: str, codec: str) -> None:
    scenario.check(scenario.run(Client(bootstrap), Plan(name, codec)), explicit=False)
