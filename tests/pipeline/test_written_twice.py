"""Batches that are in a log twice, and those that only look so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .rows import START_MS, History, Row, found_in


def log(*batches: tuple[int, int, int], topic: str = "orders", source: str = "segment") -> History:
    """Of one producer: the offset of each batch, its sequence, and how many records it has."""
    story = History(source, topic)
    for offset, sequence, count in batches:
        story.add("append", offset=offset, end_offset=offset + count, sequence=sequence, **_PRODUCER)
    for row in story.rows:
        row.time_ms = START_MS + (row.sequence or 0)
    return story


_PRODUCER: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "detail": "transactional"}


def told(story: History) -> list[Row]:
    from mockbroker.pipeline.signatures import transactions

    return found_in(story.rows, transactions.find)


def test_a_batch_that_was_sent_again() -> None:
    (one,) = told(log((0, 0, 5), (5, 5, 3), (8, 5, 3)))
    assert (one.signature, one.confidence, one.producer_id) == ("producer-expired", "likely", 7)
    assert "sequence 5 to orders-0 twice, at offset 5 and again at 8" in one.summary
    assert [each.position for each in one.evidence] == [2, 3]


def test_a_batch_that_the_broker_stamped() -> None:
    story = log((0, 0, 5), (5, 0, 5))
    story.rows[1] = replace(story.rows[1], time_ms=START_MS + 9)
    assert [each.confidence for each in told(story)] == ["possible"]


def test_what_coordinators_write() -> None:
    """Each commit of offsets in a transaction has sequence 0."""
    for topic in ("__consumer_offsets", "__transaction_state", "__share_group_state"):
        assert told(log((0, 0, 1), (2, 0, 1), (4, 0, 1), topic=topic)) == []


def test_what_a_producer_writes_that_starts_over() -> None:
    assert told(log((0, 0, 5), (5, 0, 3))) == []


def test_sequences_that_begin_again() -> None:
    """After 2147483647 comes 0."""
    assert told(log((0, 0, 5), (2**31, 0, 5))) == []


def test_replicas() -> None:
    story = log((0, 0, 5))
    story.rows.append(replace(story.rows[0], file="other.txt", offset=3, end_offset=8))
    assert told(story) == []
