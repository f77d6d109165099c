"""What these tests use of npm and of Playwright."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mockbroker.clients.drivers import building

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from mockbroker import MockCluster

_PROJECT: Final = Path(__file__).parent / "node"


def tools() -> Path:
    """A folder with `node_modules`, installed once. BuildError."""
    npm = building.need("npm")
    return building.cached(
        _PROJECT, "console", lambda folder: building.step([npm, "ci", "--no-audit", "--no-fund"], folder)
    )


def expect(locator: Locator, what: str | None = None) -> Any:
    """Playwright's `expect`, which is imported only where a browser is used; patient where much else runs.
    `what` is said first if it fails."""
    from playwright.sync_api import expect

    expect.set_options(timeout=30_000)
    return expect(locator, what)


def operations(cluster: MockCluster, page: Page) -> Locator:
    """Opens the tab *Do something*: where the operation is chosen."""
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name="Do something").click()
    chosen = page.get_by_label("operation")
    expect(chosen.locator("option").first).to_be_attached()
    return chosen
