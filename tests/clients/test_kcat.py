"""kcat: every codec and assignor."""

from __future__ import annotations

import pytest

from . import scenario
from .kcat import Client
from .scenario import MANY, Plan

pytestmark = pytest.mark.needs("kcat")


@pytest.mark.parametrize(
    ("codec", "assignor", "idempotent"),
    [
        ("none", "range", False),
        ("gzip", "roundrobin", False),
        ("snappy", "range", True),
        ("lz4", "roundrobin", True),
        ("zstd", "range", False),
    ],
)
@pytest.mark.usefixtures("without_hints")
def test_group(bootstrap: str, name: str, codec: str, assignor: str, idempotent: bool) -> None:
    plan = Plan(name, codec, assignor, idempotent=idempotent, records=MANY)
    scenario.check(scenario.run(Client(bootstrap), plan))
