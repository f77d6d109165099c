"""Drivers in other languages: built once into a cache, then run."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mockbroker.clients.drivers import building

from .. import needs

HERE = Path(__file__).parent


def cached(project: str, variant: str, build: Callable[[Path], None]) -> Path:
    """A folder with the project's files, after `build` ran in it: from the cache, or new."""
    try:
        return building.cached(HERE / project, variant, build)
    except building.BuildError as error:
        pytest.fail(str(error), pytrace=False)


def go(folder: Path, *arguments: str) -> None:
    building.step([needs.need("go"), *arguments], folder)


def go_source(folder: Path, module: str) -> Path:
    """A copy, in the folder, of a module that its project needs: tests and their data are part of it."""
    go(folder, "mod", "download", module)
    command = [needs.need("go"), "list", "-m", "-f", "{{.Dir}}", module]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    source = folder / module.rsplit("/", maxsplit=1)[-1]
    shutil.copytree(found.stdout.strip(), source, copy_function=shutil.copyfile)
    for each in (source, *source.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)
    return source
