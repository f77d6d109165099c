"""Offsets that go back, and those that may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mockbroker.pipeline.signatures import lag, rewinds

from .rows import DAY, SECOND, History, found

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_an_old_offset_is_given_back(spark: SparkSession) -> None:
    """As at LinkedIn: the load stopped behind an offset of a month ago."""
    story = History().commit(500).commit(9_000, 30 * DAY).commit(9_500).restore(500)
    (one,) = found(spark, rewinds.find, story)
    assert (one.signature, one.confidence, one.group, one.topic, one.partition) == (
        "offset-rewind",
        "certain",
        "billing",
        "orders",
        0,
    )
    assert "given offset 500 of orders-0, 9000 behind the 9500" in one.summary
    assert f"an older commit, of {30 * DAY + 2 * SECOND} ms before" in one.summary
    assert [each.position for each in one.evidence] == [1, 3, 4]
    assert one.evidence[-1].text == "restore orders-0: offset 500, client a, group billing"
    assert (one.to_ms - one.from_ms, list(one.ids)) == (30 * DAY + 2 * SECOND, ["KAFKA-5600"])


def test_a_restore_seen_by_a_client_is_less_sure(spark: SparkSession) -> None:
    story = History("offsets topic").commit(500).commit(9_000)
    story.restore(500, 10 * SECOND, source="client log")
    (one,) = found(spark, rewinds.find, story)
    assert one.confidence == "likely"


def test_clocks_of_two_machines_may_differ(spark: SparkSession) -> None:
    story = History("offsets topic").commit(500).commit(9_000)
    story.restore(500, SECOND // 2, source="client log")
    assert found(spark, rewinds.find, story) == []


def test_an_offset_is_gone(spark: SparkSession) -> None:
    (one,) = found(spark, rewinds.find, History().commit(500).restore(-1))
    assert (one.signature, one.confidence) == ("offset-lost", "certain")
    assert "loaded-offsets" in one.behaviours


def test_a_tombstone_races_with_a_load(spark: SparkSession) -> None:
    story = History("offsets topic").commit(500).add("tombstone", group="billing")
    story.restore(-1, 17 * 60 * SECOND, source="client log")
    one, two = found(spark, rewinds.find, story)
    assert {one.confidence, two.confidence} == {"possible", "likely"}
    assert any("a tombstone followed" in each.why for each in (one, two))


def test_an_offset_that_waited_for_weeks_may_have_expired(spark: SparkSession) -> None:
    (one,) = found(spark, rewinds.find, History().commit(500).restore(-1, 8 * DAY))
    assert (one.signature, one.confidence) == ("offset-lost", "possible")


def test_a_late_commit_of_a_member_that_was_dismissed(spark: SparkSession) -> None:
    story = History().commit(500).position(500).position(600).commit(550, client="a").commit(450)
    story.position(700).commit(700)
    (one,) = found(spark, rewinds.find, story)
    assert "committed 450 for orders-0, 100 behind the 550 before" in one.summary
    # Nothing of the client was seen between the two commits.
    assert one.confidence == "possible"


def test_a_commit_that_was_overtaken(spark: SparkSession) -> None:
    (one,) = found(spark, rewinds.find, History().commit(500).position(520).commit(450))
    assert one.confidence == "likely"


@pytest.mark.parametrize(
    "story",
    [
        History().commit(500).restore(500).commit(600).restore(600, client="b").commit(700, client="b"),
        History().commit(500).position(500).position(0).position(40).commit(50),
        History().commit(500).commit(100, generation=None, client="admin").restore(100).commit(150),
        History().commit(500).add("group", group="billing", detail="Dead", topic=None).restore(-1),
        History().restore(-1).commit(10).restore(10),
        History().commit(500, detail="in a transaction").restore(400),
        History().commit(500).out_of_range(500).reset(0).commit(100),
        History().commit(500).commit(100, partition=1).commit(200, group="search").commit(300, topic="other"),
    ],
    ids=[
        "a rebalance",
        "a user's seek",
        "an administrator's reset",
        "a group that was deleted",
        "a new group",
        "an aborted transaction",
        "a reset",
        "other partitions and groups",
    ],
)
def test_what_is_no_rewind(spark: SparkSession, story: History) -> None:
    assert found(spark, rewinds.find, story) == []


def test_lag_jumps_when_an_old_offset_comes_back(spark: SparkSession) -> None:
    story = History().add("high-watermark", offset=9_600).commit(9_500).restore(500)
    (one,) = found(spark, lag.find, story)
    assert "from 100 to 9100 records behind" in one.summary


def test_lag_that_grows_with_the_log_is_none(spark: SparkSession) -> None:
    story = History().add("high-watermark", offset=600).commit(500).add("high-watermark", offset=90_000)
    story.commit(600).restore(600).commit(700)
    assert found(spark, lag.find, story) == []
