"""What these tests use of npm and of Playwright."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mockbroker.clients.drivers import building

if TYPE_CHECKING:
    from playwright.sync_api import Locator

_PROJECT: Final = Path(__file__).parent / "node"


def tools() -> Path:
    """A folder with `node_modules`, installed once. BuildError."""
    npm = building.need("npm")
    return building.cached(
        _PROJECT, "console", lambda folder: building.step([npm, "ci", "--no-audit", "--no-fund"], folder)
    )


def expect(locator: Locator) -> Any:
    """Playwright's `expect`, which is imported only where a browser is used; patient where much else runs."""
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)
    return expect(locator)
