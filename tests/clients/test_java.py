"""The Java client, old to new: every codec, every assignor, static members, the idempotent producer."""

from __future__ import annotations

import pytest

from .. import needs
from . import java, scenario
from .scenario import Plan


@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("version", ["2.8.2", "3.9.2", "4.4.0"])
@pytest.mark.usefixtures("without_hints")
def test_group(bootstrap: str, name: str, version: str) -> None:
    plans = [
        Plan(f"{name}-none", "none", "range", idempotent=True),
        Plan(f"{name}-gzip", "gzip", "roundrobin"),
        Plan(f"{name}-snappy", "snappy", "sticky"),
        Plan(f"{name}-lz4", "lz4", "cooperative-sticky", static=True),
        Plan(f"{name}-zstd", "zstd", "cooperative-sticky"),
    ]
    for events in java.run(version, bootstrap, plans):
        scenario.check(events)
