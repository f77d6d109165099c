"""Batches after which no marker comes, and files that were copied while transactions ran."""

from __future__ import annotations

from typing import Any

import pytest

from .rows import SECOND, History, found_in

_PRODUCER: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0}
_STATE: dict[str, Any] = {"topic": None, "partition": None, "source": "dump-log"}


def hung(goes_on_ms: int) -> History:
    """The partition's log goes on for so long after the batch."""
    own = {**_PRODUCER, "sequence": 0}
    story = History("segment").add("append", offset=0, end_offset=5, detail="transactional", **own)
    story.add("append", offset=5, end_offset=6, detail="transactional, control commit", **_PRODUCER)
    story.add("transaction", detail="CompleteCommit", transactional_id="t", **_PRODUCER, **_STATE)
    story.add("append", offset=6, end_offset=7, detail="transactional", **own | {"sequence": 5})
    return story.add("append", goes_on_ms, offset=7, end_offset=8)


def told(story: History) -> list[str]:
    from mockbroker.pipeline.signatures import transactions

    return [one.confidence for one in found_in(story.rows, transactions.find)]


@pytest.mark.parametrize(
    ("goes_on_ms", "confidence"),
    [(499, []), (500, ["possible"]), (60 * SECOND, ["likely"]), (900 * SECOND, ["certain"])],
)
def test_it_may_have_begun_after_the_coordinator_s_log_was_copied(
    goes_on_ms: int, confidence: list[str]
) -> None:
    assert told(hung(goes_on_ms)) == confidence


def test_what_the_coordinator_wrote_afterwards_makes_sure() -> None:
    other: dict[str, Any] = {"producer_id": 8, "transactional_id": "other", "detail": "Ongoing"}
    assert told(hung(0).add("transaction", **other, **_STATE)) == ["certain"]
