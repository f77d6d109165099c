"""The documentation as a site."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from found.finding import findings
from tests.docs.walking import ROOT
from tests.needs import brings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ARTICLE = re.compile(r"<article[^>]*>(.*)</article>", re.DOTALL)
LOADED = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="([^"]+)"|<link[^>]*\shref="([^"]+)"[^>]*>')


@pytest.fixture(scope="module")
@brings("mkdocs")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every link leads somewhere, and every page has its place: `--strict` refuses all else."""
    site = tmp_path_factory.mktemp("documentation") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return site


def test_it_is_built_without_a_warning_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        loaded = ["".join(found) for found in LOADED.findall(page.read_text())]
        assert [url for url in loaded if re.match(r"(https?:)?//", url)] == [], page
    assert "mockbroker.server.mock_cluster.MockCluster" in (site / "reference/python.html").read_text()


def test_each_finding_has_a_page_that_the_table_leads_to(site: Path) -> None:
    table = (site / "found.html").read_text()
    for finding in findings():
        assert f'href="found/{finding.name}.html"' in table
        assert finding.expected.splitlines()[-1] in html.unescape(
            (site / "found" / f"{finding.name}.html").read_text()
        )


def test_a_section_of_the_sidebar_has_a_page_only_if_it_is_one_of_its_own(site: Path) -> None:
    links = r'<a href="([^"]+)" class="md-nav__link[^"]*">\s*<span class="md-ellipsis">\s*([^<]*?)\s*<'
    pages = {text: href for href, text in re.findall(links, (site / "index.html").read_text())}
    assert "Reference" not in pages
    assert pages["Report cards"] == "report-cards/index.html"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_is_as_dark_as_the_page(site: Path, browser: Browser, scheme: str) -> None:
    page = browser.new_page(color_scheme="dark" if scheme == "dark" else "light")
    page.goto((site / "index.html").as_uri())
    (shown,) = page.locator("article img:visible").all()
    assert f"console-19902{'-dark' * (scheme == 'dark')}.png#only-{scheme}" in str(shown.get_attribute("src"))
    page.close()


def test_no_block_of_code_scrolls_sideways(site: Path, browser: Browser) -> None:
    """All pages have the same frame: in that of one, what is in each is shown in a quarter of the time."""
    page = browser.new_page(viewport={"width": 1400, "height": 900}, java_script_enabled=False)
    page.goto((site / "index.html").as_uri())
    frame = page.locator("article")
    seen = 0
    for path in sorted(site.rglob("*.html")):
        text = path.read_text()
        if "<pre>" not in text:
            continue
        (article,) = ARTICLE.findall(text)
        frame.evaluate("(frame, article) => { frame.innerHTML = article; }", article)
        widths = frame.locator("pre > code").evaluate_all(
            "all => all.map(e => [e.clientWidth, e.scrollWidth])"
        )
        seen += len(widths)
        assert [inner for outer, inner in widths if inner > outer] == [], path
    assert seen > 300
    page.close()
