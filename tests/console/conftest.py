from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from mockbroker import MockCluster
from tests.needs import brings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SCREENSHOTS: Final = Path(__file__).parents[2] / "build/screenshots"
"""In CI: how each test left its page."""


@pytest.fixture
def complaints() -> list[str]:
    """What the page wrote to the browser's console; a test that expects something takes it away."""
    return []


@pytest.fixture
@brings("chromium", "playwright")
def page(browser: Browser, complaints: list[str], request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that complains of nothing, and asks nobody else for anything. `@pytest.mark.parametrize` with
    `indirect` gives it other options of a context."""
    options: dict[str, Any] = {"viewport": {"width": 1280, "height": 800}, **getattr(request, "param", {})}
    context = browser.new_context(**options)
    page = context.new_page()
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    asked: set[str] = set()
    page.on("request", lambda each: asked.add(each.url))
    try:
        yield page
        if os.environ.get("CI"):
            name = re.sub(r"[^a-zA-Z0-9]+", "-", request.node.name).strip("-")
            page.screenshot(path=SCREENSHOTS / f"{name}.png")
    finally:
        context.close()
    assert complaints == []
    assert [url for url in asked if not url.startswith(("http://127.0.0.1:", "data:"))] == []


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(kafka="4.4", topics={"orders": 2}, console=True) as running:
        yield running
