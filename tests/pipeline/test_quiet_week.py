"""A week in which nothing goes wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from mockbroker.pipeline.analysis import analyze

from .quiet_week import play

DAYS = 7 if settings().max_examples > 100 else 2
"""A week with the profile `thorough`."""


@pytest.mark.long
def test_nothing_is_told_of_it(tmp_path: Path) -> None:
    play(tmp_path / "week.jsonl", DAYS)
    found = analyze([tmp_path / "week.jsonl"], tmp_path / "out")
    assert found.kinds["append"] > 24 * DAYS
    assert [each.told for each in found.symptoms] == []
    assert [(each.name, each.story) for each in found.incidents] == []
