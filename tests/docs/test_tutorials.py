"""Tutorials do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.walking import ROOT, walk

TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_as_it_is_written(page: Path, tmp_path: Path) -> None:
    assert walk(page, tmp_path, install=False) == []
