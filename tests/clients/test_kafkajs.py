"""kafkajs: every codec but zstd, which it has not; its only assignor; the idempotent producer."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from mockbroker.clients.drivers import building

from .. import needs
from . import build, scenario
from .scenario import Plan


def install(folder: Path) -> None:
    building.step([needs.need("npm"), "ci", "--no-audit", "--no-fund"], folder)


@pytest.mark.needs("node", "npm")
@pytest.mark.usefixtures("without_hints")
def test_group(bootstrap: str, name: str) -> None:
    node = needs.need("node")
    driver = build.cached("node", "kafkajs", install) / "driver.js"
    plans = [
        Plan(f"{name}-none", "none", "roundrobin"),
        Plan(f"{name}-gzip", "gzip", "roundrobin", idempotent=True),
        Plan(f"{name}-snappy", "snappy", "roundrobin"),
        Plan(f"{name}-lz4", "lz4", "roundrobin"),
    ]
    job = {
        "bootstrap": bootstrap,
        "partitions": scenario.PARTITIONS,
        "records": scenario.RECORDS,
        "extra": scenario.EXTRA,
        "part": scenario.PART,
        "batch": scenario.BATCH,
        "timeout": scenario.TIMEOUT,
        "filler": scenario.FILLER,
        "plans": [{**asdict(plan), "group": plan.group} for plan in plans],
    }
    for events in build.events([node, str(driver), json.dumps(job)], plans):
        scenario.check(events)
