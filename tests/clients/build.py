"""Drivers in other languages: built once into a cache, then run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mockbroker.clients.drivers import building

HERE = Path(__file__).parent


def cached(project: str, variant: str, build: Callable[[Path], None]) -> Path:
    """A folder with the project's files, after `build` ran in it: from the cache, or new."""
    try:
        return building.cached(HERE / project, variant, build)
    except building.BuildError as error:
        pytest.fail(str(error), pytrace=False)
