"""KAFKA-20734: a transaction is over, and a partition without a leader did not get its marker."""

from __future__ import annotations

from typing import Any

import pytest

from .rows import History, searched

OF_NONE: dict[str, Any] = {"topic": None, "partition": None}


def left_open(
    producer: int = 7, *, ended: str = "CompleteAbort", later: bool = False, stable: int = 3
) -> History:
    """A partition without a leader for three seconds; its transaction ends meanwhile, or `later`."""
    own: dict[str, Any] = {
        "transactional_id": f"billing-{producer}",
        "producer_id": producer,
        "producer_epoch": 0,
    }
    rows = History().add("append", offset=3, end_offset=5, **own)
    rows.add("leader", leader=-1, leader_epoch=1)
    over: dict[str, Any] = {"detail": ended, **own, **OF_NONE}
    if not later:
        rows.add("transaction", **over)
    rows.add("leader", leader=2, leader_epoch=2)
    if later:
        rows.add("transaction", **over)
    rows.add("high-watermark", from_offset=stable, offset=9, end_offset=9)
    return rows.add("high-watermark", from_offset=stable, offset=11, end_offset=11)


@pytest.mark.parametrize("ended", ["CompleteAbort", "CompleteCommit"])
def test_a_marker_that_a_partition_without_a_leader_did_not_get(ended: str) -> None:
    from mockbroker.pipeline.signatures import leaderless_markers

    stories = {
        "skipped": left_open(ended=ended),
        "waited": left_open(8, ended=ended, later=True),
        "written": left_open(9, ended=ended, stable=9),
        "it goes on": left_open(10, ended="PrepareAbort"),
    }
    found = searched(leaderless_markers.find, stories)
    assert [(each.signature, each.confidence) for each in found["skipped"]] == [("marker-skipped", "certain")]
    (one,) = found["skipped"]
    assert (one.producer_id, one.behaviours, one.ids) == (7, ["leaderless-marker"], ["KAFKA-20734"])
    assert [each.position for each in one.evidence] == [1, 2, 3, 6]
    assert not any(found[name] for name in ("waited", "written", "it goes on"))
