"""Tutorials do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.walking import ROOT, walk
from tests.needs import JAVA
from tests.turns import in_turn

pytestmark = pytest.mark.long
NEEDS = {"application-java": JAVA, "application-kafkajs": ("node", "npm")}
TUTORIALS = [
    pytest.param(page, id=page.stem, marks=pytest.mark.needs(*NEEDS.get(page.stem, ())))
    if page.stem in NEEDS
    else pytest.param(page, id=page.stem)
    for page in in_turn(sorted((ROOT / "docs/tutorials").glob("*.md")), 3)
]


@pytest.mark.parametrize("page", TUTORIALS)
def test_a_tutorial_as_it_is_written(page: Path, tmp_path: Path) -> None:
    assert walk(page, tmp_path, install=False) == []
