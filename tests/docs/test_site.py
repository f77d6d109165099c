"""The documentation as a site."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.walking import ROOT

LOADED = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="([^"]+)"|<link[^>]*\shref="([^"]+)"[^>]*>')


@pytest.mark.needs("mkdocs")
def test_it_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    """Every link leads somewhere, and every page has its place: `--strict` refuses all else."""
    site = tmp_path / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        loaded = ["".join(found) for found in LOADED.findall(page.read_text())]
        assert [url for url in loaded if re.match(r"(https?:)?//", url)] == [], page
    assert "mockbroker.server.mock_cluster.MockCluster" in (site / "reference/python.html").read_text()
