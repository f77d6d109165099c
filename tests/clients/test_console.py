"""Kafka's console producer and consumer. They partition by key, have one assignor, and Java's codecs."""

from __future__ import annotations

import pytest

from .. import needs
from ..properties import thorough
from . import scenario
from .console import Client
from .scenario import MANY, Plan

CODECS = ["none", "gzip", "snappy", "lz4", "zstd"] if thorough() else ["zstd"]
"""Each takes five JVMs."""


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("codec", CODECS)
def test_group(bootstrap: str, name: str, codec: str) -> None:
    scenario.check(scenario.run(Client(bootstrap), Plan(name, codec, records=MANY)), explicit=False)
