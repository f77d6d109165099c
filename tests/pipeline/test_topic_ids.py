"""Names of topics in rows that have only their ids."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path

from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.topic_ids import with_topics

from .rows import History, written


def named(rows: History, folder: Path) -> list[str]:
    """The topics of the rows with states, in their order."""
    kinds = Counter(row.kind for row in rows.rows)
    with closing(DuckEngine(folder)) as engine, engine.searching(len(rows.rows)):
        table = with_topics(engine.files(written(rows.rows, folder)), kinds)
        found = table.where("kind = 'share-state'").select("topic", "position").collect()
    return [row["topic"] for row in sorted(found, key=lambda row: row["position"])]


def states(*ids: str) -> History:
    rows = History("segment")
    for each in ids:
        rows.add("share-state", topic=each, group="jobs", detail="whole")
    return rows


def test_an_id_whose_name_a_file_tells(tmp_path: Path) -> None:
    rows = states("id-1", "id-2", "id-1").add("topic-id", topic="orders", detail="id-1")
    assert named(rows, tmp_path) == ["orders", "id-2", "orders"]


def test_a_topic_that_was_created_anew_is_another_one(tmp_path: Path) -> None:
    rows = states("old", "new").add("topic-id", topic="orders", detail="old")
    rows.add("topic-id", topic="orders", detail="new", time_ms=None)
    rows.add("topic-id", topic="orders", detail="old")
    assert named(rows, tmp_path) == ["old", "orders"]


def test_nobody_tells_a_name(tmp_path: Path) -> None:
    assert named(states("id-1"), tmp_path) == ["id-1"]
