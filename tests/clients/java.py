"""JVMs, and class paths from Maven."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from . import build, scenario, tools
from .scenario import Event, Plan

FLAGS = ["-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
LOG = ["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]


def class_path(project: str, version: str) -> str:
    """The jars that the project's pom names, and its classes."""
    for tool in ("java", "javac", "mvn"):
        tools.need(tool)

    def steps(folder: Path) -> None:
        copy = ["dependency:copy-dependencies", "-DoutputDirectory=lib", f"-Dkafka.version={version}"]
        build.step(["mvn", "-B", "-q", *copy], folder)
        if sources := [file.name for file in folder.glob("*.java")]:
            build.step(["javac", "--release", "11", "-cp", "lib/*", "-d", "classes", *sources], folder)

    home = build.cached(project, version, steps)
    return f"{home}/lib/*{os.pathsep}{home}/classes"


def command(classes: str, main: str, *args: str) -> list[str]:
    return [tools.need("java"), *FLAGS, *LOG, "-cp", classes, main, *args]


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
    driver = command(class_path("java", version), "Driver", bootstrap, *map(str, shape), *described)
    return build.events(driver, plans)
