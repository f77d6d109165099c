"""Drivers in other languages: built once into a cache, then run."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from .scenario import TIMEOUT, Event, Plan

HERE = Path(__file__).parent
BUILD_TIMEOUT = 240.0


def cached(project: str, variant: str, build: Callable[[Path], None]) -> Path:
    """A folder with the project's files, after `build` ran in it: from the cache, or new.

    Built in a folder of its own, then renamed: others may build the same at the same time.
    """
    files = sorted(file for file in (HERE / project).iterdir() if file.is_file())
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    cache = Path(os.environ.get("MOCKBROKER_CACHE") or Path.home() / ".cache" / "mockbroker") / "clients"
    home = cache / f"{project}-{variant}-{digest}"
    if home.exists():
        return home
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        work = Path(folder, "work")
        work.mkdir()
        for file in files:
            shutil.copy(file, work)
        build(work)
        try:
            work.rename(home)
        except OSError:  # another was quicker
            if not home.exists():
                raise
    return home


def step(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=BUILD_TIMEOUT, check=False
    )
    if done.returncode:
        pytest.fail(f"{' '.join(command)}\n{done.stdout}{done.stderr}", pytrace=False)


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
