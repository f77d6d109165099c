"""JVMs, and class paths from Maven."""

from __future__ import annotations

from pathlib import Path

import pytest

from mockbroker.clients.drivers import building
from mockbroker.clients.drivers.jvm import FLAGS, LOG_LEVEL

from .. import needs


def class_path(version: str, project: Path) -> str:
    """The jars that a project's pom names, and its classes."""
    for tool in ("java", "javac", "mvn"):
        needs.need(tool)
    try:
        return building.class_path(project, version)
    except building.BuildError as error:
        pytest.fail(str(error), pytrace=False)


def command(classes: str, main: str, *args: str) -> list[str]:
    return [needs.need("java"), *FLAGS, f"{LOG_LEVEL}=warn", "-cp", classes, main, *args]
