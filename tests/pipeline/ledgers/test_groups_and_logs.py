"""What two ledgers tell together: a partition that a group leaves, one that it finds late, and one whose log
begins later when it comes back."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.ledgers import absent_groups, group_partitions, partitions
from mockbroker.pipeline.symptoms import Symptom
from mockbroker.pipeline.symptoms.noticing import symptoms

from .folding import OFFSETS, SECOND, START_MS, Rows

LOG = "orders-1/00000000000000000000.log"


class Story:
    """A group, and partition 1 of a topic; each at a time in seconds."""

    def __init__(self) -> None:
        self.group = Rows(OFFSETS, "segment", group="billing")
        self.log = Rows(LOG, "segment", topic="orders", partition=1)
        self.commits: list[tuple[int, int]] = []

    def write(self, at: int, *offsets: int) -> Story:
        for each in offsets:
            self.log.add("append", time_ms=START_MS + at * SECOND, offset=each, end_offset=each + 1)
        return self

    def assigned(self, at: int, state: str = "Stable") -> Story:
        self.group.add("group", time_ms=START_MS + at * SECOND, detail=state)
        return self

    def begins(self, at: int, offset: int) -> Story:
        self.log.add("log-start", time_ms=START_MS + at * SECOND, offset=offset)
        return self

    def commit(self, at: int, partition: int, offset: int) -> Story:
        told: dict[str, Any] = {"topic": "orders", "partition": partition, "offset": offset}
        self.group.add("commit", time_ms=START_MS + at * SECOND, **told)
        if partition == 1:
            own: dict[str, Any] = {"file": OFFSETS, "group": "billing", "time_ms": START_MS + at * SECOND}
            self.log.add("commit", offset=offset, **own)
        return self

    def noticed(self) -> list[Symptom]:
        by_group = list(absent_groups.LEDGER.fold(self.group.rows))
        by_log = list(partitions.LEDGER.fold(sorted(self.log.rows, key=lambda row: row.at_ms)))
        return symptoms([*by_group, *by_log])


def left(*others: int) -> Story:
    """A partition with more records, of which nothing more is committed; other commits at some times."""
    story = Story().assigned(0).write(1, *range(5)).commit(5, 0, 1).commit(6, 1, 5).write(7, *range(5, 9))
    for nth, at in enumerate(others):
        story.commit(at, 0, 2 + nth)
    return story


def test_a_partition_that_a_group_reads_no_more() -> None:
    (one,) = left(10, 50, 70).noticed()
    assert (one.name, one.group, one.at) == ("lag-stands", "billing", "orders-1")
    assert (one.offset, one.end_offset) == (5, 9)
    assert "committed nothing of orders-1 for 63 s, after 5, although it went on in other" in one.told


@pytest.mark.parametrize("others", [(), (10, 20, 60), (70,)])
def test_a_group_that_has_gone_or_was_away_for_a_while(others: tuple[int, ...]) -> None:
    assert left(*others).noticed() == []


def test_a_partition_in_which_there_is_no_more() -> None:
    story = Story().assigned(0).write(1, *range(5)).commit(5, 0, 1).commit(6, 1, 5)
    for at in (10, 50, 70):
        story.commit(at, 0, at)
    assert story.noticed() == []


def found(assigned: int, first: int, offset: int, written: int = 20) -> Story:
    """A partition that is new after the group's first commit; `first` is that of its own."""
    story = Story().assigned(0).commit(5, 0, 10).write(10, 0).write(written, 1, 2)
    return story.assigned(assigned).write(first - 1, 3).commit(first, 1, offset)


def test_a_partition_that_a_group_found_late() -> None:
    (one,) = found(30, 200, 4).noticed()
    assert (one.name, one.group, one.at) == ("records-skipped", "billing", "orders-1")
    assert (one.offset, one.end_offset) == (0, 3)


@pytest.mark.parametrize(
    "story",
    [found(30, 80, 4), found(30, 200, 3), found(30, 200, 2), found(15, 200, 4)],
    ids=["soon", "at the end", "in between", "before they were written"],
)
def test_a_partition_of_which_a_group_may_have_read_all(story: Story) -> None:
    assert story.noticed() == []


def test_a_partition_that_was_there_before() -> None:
    story = Story().assigned(0).write(1, 0).commit(5, 0, 10).write(20, 1, 2).assigned(30).write(199, 3)
    assert story.commit(200, 1, 4).noticed() == []


def test_a_group_that_never_read_the_topic_before() -> None:
    story = Story().write(10, 0).write(20, 1, 2).assigned(30).write(199, 3).commit(200, 1, 4)
    assert story.noticed() == []


def back(deleted: int, start: int, offset: int = 9) -> Story:
    """A group that leaves after 10 s and comes back after 30; when the log begins at `start`."""
    story = Story().assigned(0).write(1, *range(9)).commit(5, 1, 3).assigned(10, "Empty")
    return story.begins(deleted, start).assigned(30).commit(35, 1, offset)


def test_what_was_deleted_while_a_group_was_away() -> None:
    (one,) = back(20, 7).noticed()
    assert (one.name, one.group, one.at) == ("records-skipped", "billing", "orders-1")
    assert (one.offset, one.end_offset) == (3, 7)


@pytest.mark.parametrize(
    "story",
    [back(20, 3), back(20, 2), back(20, 9, 8), back(8, 7), back(40, 7)],
    ids=["all read", "more than that", "it goes on before", "deleted before it left", "deleted later"],
)
def test_what_was_deleted_and_not_missed(story: Story) -> None:
    assert story.noticed() == []


def test_a_client_that_names_no_group_tells_it_itself() -> None:
    story = back(20, 7)
    reset = {"topic": "orders", "partition": 1, "from_offset": 3, "offset": 7, "client": "shipping-7"}
    client = Rows("client.log", "client-log", **reset)
    client.add("reset", time_ms=START_MS + 32 * SECOND)
    notes = [*absent_groups.LEDGER.fold(story.group.rows), *group_partitions.LEDGER.fold(client.rows)]
    by_log = partitions.LEDGER.fold(sorted(story.log.rows, key=lambda row: row.at_ms))
    (one,) = symptoms([*notes, *by_log])
    assert (one.client, one.offset, one.end_offset) == ("shipping-7", 3, 7)
