"""DuckDB and Spark give ledgers the same rows in the same order."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mockbroker.pipeline.client_groups import with_groups
from mockbroker.pipeline.engine import DuckEngine, Engine, SparkEngine
from mockbroker.pipeline.ledgers import Note, notes
from mockbroker.pipeline.rows import comparable
from mockbroker.pipeline.session import MASTER

from .. import test_consumer_groups, test_offsets_topic, test_resets, test_rewinds, test_share_groups
from ..rows import History, healthy, rows_of, written

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def shared() -> History:
    """A share group that skips records."""
    rows = History().add("append", offset=0, end_offset=10)
    for start in (-1, 0, 4):
        rows.add("share-partition", group="jobs", broker=1, offset=start)
    return rows


STORIES = {
    "a share group": shared(),
    **{f"share groups {name}": each for name, each in test_share_groups.FOUND.items()},
    **{f"groups {name}": each for name, each in test_consumer_groups.STORIES.items()},
    **{f"offsets {name}": each for name, each in test_offsets_topic.FOUND.items()},
    **{f"resets {name}": each for name, each in test_resets.RESETS.items()},
    **{f"rewinds {name}": each for name, each in test_rewinds.FOUND.items()},
}


def test_in_rows_made_by_hand(spark: SparkSession, tmp_path: Path) -> None:
    rows = [*rows_of(STORIES), *healthy().rows]
    files = written(rows, tmp_path)
    kinds = Counter(row.kind for row in rows)

    def noted(engine: Engine) -> list[Note]:
        with engine.searching(len(rows)):
            table = with_groups(comparable(engine.files(files)))
            return sorted(notes(engine, table, kinds, lambda _: None), key=str)

    with closing(DuckEngine(tmp_path)) as duck:
        ours = noted(duck)
    assert {each.what for each in ours} >= {
        "commit-back",
        "records-skipped",
        "unsettled",
        "member-fenced",
        "share-skipped",
        "share-set-back",
        "share-worn",
    }
    assert noted(SparkEngine(tmp_path, MASTER)) == ours
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkEngine, "most_rows", 0)
        assert noted(SparkEngine(tmp_path, MASTER)) == ours
