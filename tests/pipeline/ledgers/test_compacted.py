"""What is noted of records that were compacted before a group read them."""

from __future__ import annotations

import pytest

from mockbroker.pipeline.ledgers import partitions

from .folding import OFFSETS, SECOND, START_MS, Rows, told

LOG = "orders-0/00000000000000000000.log"


def story(*, at: int = 30, cleaned: int = 150, back: int = 150, read: int = 50, kept: str = "") -> Rows:
    """A group commits `read`, and `back` 35 seconds later; at some second the log is compacted."""
    rows = Rows(LOG, "segment", topic="orders", partition=0)

    def add(kind: str, second: int, **values: object) -> None:
        rows.add(kind, time_ms=START_MS + second * SECOND, **values)  # type: ignore[arg-type]

    add("append", 0, offset=0, end_offset=50)
    add("commit", 2, offset=read, group="billing", file=OFFSETS)
    if kept:
        add("append", 10, offset=50, end_offset=140, file=f"{LOG}{kept}")
    add("append", 20, offset=140, end_offset=151)
    add(
        "log",
        at,
        detail="compacted",
        from_offset=0,
        end_offset=cleaned,
        source="broker-log",
        file="server.log",
    )
    add("commit", 37, offset=back, group="billing", file=OFFSETS)
    return rows


@pytest.mark.parametrize("kept", ["", ".deleted"])
def test_what_was_compacted_before_a_group_came_back(kept: str) -> None:
    assert told(partitions.LEDGER, story(kept=kept)) == [("records-skipped", 50, 140)]


@pytest.mark.parametrize(
    "rows",
    [story(read=49), story(at=5), story(at=40), story(cleaned=50), story(back=100)],
    ids=["it has more to read", "soon", "later", "it had read that", "it did not go so far"],
)
def test_what_a_group_may_have_read(rows: Rows) -> None:
    assert told(partitions.LEDGER, rows) == []
