"""JVMs, and class paths from Maven."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mockbroker.clients.drivers import building
from studies.clients.java import FLAGS, LOG_LEVEL, PROJECT

from .. import needs
from . import build, scenario
from .scenario import Event, Plan


def class_path(version: str, project: Path = PROJECT) -> str:
    """The jars that a project's pom names, and its classes."""
    for tool in ("java", "javac", "mvn"):
        needs.need(tool)
    try:
        return building.class_path(project, version)
    except building.BuildError as error:
        pytest.fail(str(error), pytrace=False)


def command(classes: str, main: str, *args: str) -> list[str]:
    return [needs.need("java"), *FLAGS, f"{LOG_LEVEL}=warn", "-cp", classes, main, *args]


def run(version: str, bootstrap: str, plans: Sequence[Plan]) -> list[list[Event]]:
    """The scenario with kafka-clients of a version: the events of each plan."""
    shape = [
        scenario.PARTITIONS,
        scenario.RECORDS,
        scenario.EXTRA,
        scenario.PART,
        scenario.BATCH,
        int(scenario.TIMEOUT),
        scenario.FILLER,
    ]
    described = [
        f"{plan.topic},{plan.group},{plan.codec},{plan.assignor},{plan.static},{plan.idempotent}"
        for plan in plans
    ]
    driver = command(class_path(version), "Driver", bootstrap, *map(str, shape), *described)
    return build.events(driver, plans)
