"""Spark's view of segments, traces and everything: the same rows as without Spark, however many tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mockbroker.pipeline.observations import NAMES
from mockbroker.pipeline.readers import read
from mockbroker.rig.batches import GZIP, control_batch

from .reading import STORIES
from .segments import data, old, segment
from .test_trace import HEAD, LEADER

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="session")
def session(spark: SparkSession) -> SparkSession:
    from mockbroker.pipeline.sources import register

    register(spark)
    return spark


def dicts(frame: DataFrame) -> list[dict[str, Any]]:
    return [row.asDict() for row in frame.collect()]


def test_batches(session: SparkSession, tmp_path: Path) -> None:
    damaged = bytearray(data(4))
    damaged[-1] ^= 1
    segment(
        tmp_path, data(0, 2, epoch=3, codec=GZIP, producer_id=8) + bytes(damaged) + control_batch() + b"abc"
    )
    frame = session.read.format("kafka-segment").load(str(tmp_path))
    first, wrong, control, torn = dicts(frame.orderBy("position"))
    assert (first["topic"], first["partition"], first["leader_epoch"]) == ("orders", 0, 3)
    assert (first["base_offset"], first["last_offset"], first["record_count"]) == (0, 1, 2)
    assert (first["compression"], first["crc_valid"], first["producer_id"]) == ("gzip", True, 8)
    assert (wrong["crc_valid"], wrong["base_offset"], wrong["error"][:9]) == (False, 4, "wrong CRC")
    assert (control["is_control"], control["is_transactional"]) == (True, True)
    assert (torn["magic"], torn["size"], torn["error"][:14]) == (None, 3, "truncated tail")


def test_records(session: SparkSession, tmp_path: Path) -> None:
    segment(tmp_path, old(1, GZIP) + data(3, 2) + b"abc", "old-5")
    found = session.read.format("kafka-segment").option("records", "true").load(str(tmp_path))
    rows = dicts(found.orderBy("position", "offset"))
    assert [row["offset"] for row in rows] == [0, 1, 2, 3, 4, None]
    assert (rows[0]["value"], rows[0]["timestamp"], rows[0]["partition"]) == (b"value 0", 1000, 5)
    assert rows[-1]["error"].startswith("truncated tail")


def test_a_large_segment_is_read_by_several_tasks(session: SparkSession, tmp_path: Path) -> None:
    segment(tmp_path, b"".join(data(offset) + b"x" * 7 for offset in range(0, 400, 2)))
    reader = session.read.format("kafka-segment")
    whole = reader.load(str(tmp_path))
    parts = reader.option("partitionBytes", "3000").load(str(tmp_path))
    assert (whole.rdd.getNumPartitions(), parts.rdd.getNumPartitions() > 4) == (1, True)
    assert parts.orderBy("position").collect() == whole.orderBy("position").collect()
    assert whole.where("error is null").count() == 200


def test_traces(session: SparkSession, tmp_path: Path) -> None:
    lines = [json.dumps({**LEADER, "number": number}) + "\n" for number in range(200)]
    path = tmp_path / "trace.jsonl"
    path.write_text(HEAD + "".join(lines[:100]) + "torn\n" + "".join(lines[100:]))
    reader = session.read.format("mockbroker-trace").option("partitionBytes", "5000")
    frame = reader.load(str(path))
    assert frame.rdd.getNumPartitions() > 2
    good = dicts(frame.where("error is null").orderBy("line_at"))
    assert [row["number"] for row in good] == list(range(200))
    assert (good[0]["kind"], good[0]["leader"], good[0]["group"]) == ("leader", 1, None)
    (bad,) = dicts(frame.where("error is not null"))
    assert bad["line_at"] == len(HEAD) + sum(map(len, lines[:100]))


def test_observations_of_anything(session: SparkSession, tmp_path: Path) -> None:
    path = segment(tmp_path, data(0))
    files = [path, *sorted(STORIES.iterdir())]
    (tmp_path / "notes.txt").write_text("nobody reads this")
    paths = json.dumps([str(tmp_path), str(STORIES)])
    frame = session.read.format("mockbroker-observations").option("paths", paths).load()
    assert frame.columns == list(NAMES)
    wanted = [tuple(getattr(row, name) for name in NAMES) for each in files for row in read(each)]
    assert sorted(map(repr, (tuple(row) for row in frame.collect()))) == sorted(map(repr, wanted))


@pytest.mark.parametrize(
    ("source", "option", "value", "told"),
    [
        ("kafka-segment", "partitionBytes", "none", "is not a number above 0"),
        ("kafka-segment", "records", "maybe", "is neither true nor false"),
        ("mockbroker-observations", "timezone", "Mars/Base", "no time zone 'Mars/Base'"),
    ],
)
def test_wrong_options_are_told(
    session: SparkSession, tmp_path: Path, source: str, option: str, value: str, told: str
) -> None:
    path = segment(tmp_path, data(0))
    with pytest.raises(Exception, match=told):
        session.read.format(source).option(option, value).load(str(path)).collect()


@pytest.mark.parametrize("source", ["kafka-segment", "mockbroker-trace", "mockbroker-observations"])
def test_a_path_that_is_not_there_is_told(session: SparkSession, tmp_path: Path, source: str) -> None:
    missing = str(tmp_path / "missing")
    with pytest.raises(Exception, match=f"{missing}: No such file or directory"):
        session.read.format(source).load(missing).collect()
