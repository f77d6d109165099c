"""What is noticed of share groups in traces."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.ledgers import notes
from mockbroker.pipeline.readers import read
from mockbroker.pipeline.rows import comparable
from mockbroker.pipeline.symptoms.noticing import symptoms
from mockbroker.policies import fixes
from mockbroker.simulation.history import draw
from mockbroker.simulation.plan import Options
from tests.properties import examples

from ..rows import written
from ..test_bulk import differences
from .share_stories import STORIES, trace_of, write_trace

BY_DESIGN = "share-records-given-up"
"""What is delivered as often as it may be is given up by brokers that do as they should, too."""


def noticed_in(trace: Path, scratch: Path) -> set[str]:
    rows = list(read(trace))
    kinds = Counter(row.kind for row in rows)
    with closing(DuckEngine(scratch)) as engine, engine.searching(len(rows)):
        noted = notes(engine, comparable(engine.files(written(rows, scratch))), kinds, lambda _: None)
    found = {each.name for each in symptoms(noted, max(row.time_ms or 0 for row in rows))}
    return {each for each in found if each.startswith("share-")} - {BY_DESIGN}


@pytest.mark.parametrize(
    "behaviour",
    [
        # Members that are given nothing ask again at once, for more than a minute.
        pytest.param(each, marks=pytest.mark.long if noticed == "share-stands" else ())
        for each, (*_, noticed) in STORIES.items()
    ],
)
def test_a_known_bug_is_noticed_and_its_fix_is_not(behaviour: str, tmp_path: Path) -> None:
    before, after, _, expected = STORIES[behaviour]
    for answer in (before, after):
        trace_of(tmp_path / f"{answer}.jsonl", behaviour, answer)
    assert noticed_in(tmp_path / f"{before}.jsonl", tmp_path / "before") == {expected}
    assert noticed_in(tmp_path / f"{after}.jsonl", tmp_path / "after") == set()


@pytest.mark.parametrize("kafka", ["4.2", "4.4"])
def test_share_groups_that_are_served_as_they_should_be(kafka: str, tmp_path: Path) -> None:
    """Whatever befalls their members and brokers."""
    for seed in range(examples(2)):
        plan = replace(draw(seed, Options(kafka, fixes(), share_groups=True)), unclean=False)
        write_trace(tmp_path / f"{seed}.jsonl", plan)
        assert noticed_in(tmp_path / f"{seed}.jsonl", tmp_path / str(seed)) == set(), seed


def test_both_readers_tell_the_same(tmp_path: Path) -> None:
    """But for refusals that are not about a partition, of which one reader tells less."""
    trace = tmp_path / "trace.jsonl"
    trace_of(trace, "altered-share-epoch", "kept")
    found = differences(trace, tmp_path, 30_000)
    assert [each for each in found if "'kind': 'refused'" not in each[1]] == []
