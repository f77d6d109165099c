"""What is noticed in traces of clusters that behave as in a story, or as they should."""

from __future__ import annotations

from pathlib import Path

from mockbroker.pipeline.analysis import analyze

from ..traces import forgotten_producer, quiet_day


def test_a_quiet_day(tmp_path: Path) -> None:
    """A rebalance, a clean election, users' seeks and retention."""
    quiet_day(tmp_path / "quiet.jsonl")
    assert [each.told for each in analyze([tmp_path / "quiet.jsonl"], tmp_path / "out").symptoms] == []


def test_a_producer_that_goes_on_with_a_new_epoch(tmp_path: Path) -> None:
    """A finding, and nothing that its user would notice."""
    forgotten_producer(tmp_path / "forgotten.jsonl", "2.3")
    found = analyze([tmp_path / "forgotten.jsonl"], tmp_path / "out")
    assert [each.name for each in found.incidents] == ["spurious-sequence-error"]
    assert found.symptoms == []
