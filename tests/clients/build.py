"""Drivers in other languages: built once into a cache, then run."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mockbroker.clients.drivers import building

from .scenario import TIMEOUT, Event, Plan

HERE = Path(__file__).parent


def cached(project: str, variant: str, build: Callable[[Path], None]) -> Path:
    """A folder with the project's files, after `build` ran in it: from the cache, or new."""
    try:
        return building.cached(HERE / project, variant, build)
    except building.BuildError as error:
        pytest.fail(str(error), pytrace=False)


def events(command: Sequence[str], plans: Sequence[Plan]) -> list[list[Event]]:
    """Run a driver; the events that it prints, plan by plan."""
    timeout = TIMEOUT * (1 + len(plans))
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    told: list[list[Event]] = []
    for line in done.stdout.splitlines():
        event: Event = json.loads(line)
        if event["event"] == "plan":
            told.append([])
        told[-1].append(event)
    if done.returncode:
        last = told[-1][0] if told else "before any plan"
        pytest.fail(f"status {done.returncode}, {last}\n{done.stderr[-8000:]}", pytrace=False)
    assert [plan[0]["topic"] for plan in told] == [plan.topic for plan in plans]
    return told
