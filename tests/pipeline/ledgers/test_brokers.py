"""What is noted of a broker, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.ledgers import brokers
from mockbroker.pipeline.ledgers.brokers import TIMED_OUT

from .folding import MINUTE, SECOND, Rows, noted

BEGINS = ["state STARTING", "registered, epoch 9", "unfenced", "state STARTED"]
FAILED = "ended itself: Shutdown broker because all log dirs in /data have failed"
LEAVES = ["in controlled shutdown", "controlled shutdown granted", "fenced", "state SHUTDOWN"]


def lives(*details: str) -> Rows:
    rows = Rows(broker=2)
    for detail in details:
        rows.add("broker", detail=detail)
    return rows


@pytest.mark.parametrize(
    ("details", "what", "lasted"),
    [
        (BEGINS, None, None),
        ([*BEGINS, *LEAVES, *BEGINS], "broker-shut-down", 6),
        ([*BEGINS, *LEAVES], "broker-shut-down", None),
        ([*BEGINS, *BEGINS], "broker-died", 3),
        ([*BEGINS, "told to end", *BEGINS], "broker-shut-down", 3),
        ([*BEGINS, TIMED_OUT, "fenced", *BEGINS], "broker-died", 4),
        ([*BEGINS, TIMED_OUT, "fenced", "registered, epoch 20"], "broker-died", None),
        ([TIMED_OUT, "fenced", "registered, epoch 20", "unfenced"], "broker-died", 3),
        ([*BEGINS, TIMED_OUT, "fenced", "unfenced"], "broker-fenced", 2),
        ([*BEGINS, TIMED_OUT, "fenced"], "broker-fenced", None),
        ([*BEGINS, *LEAVES, TIMED_OUT], "broker-shut-down", None),
        (["started", "shutting down", "shut down completed", "started"], "broker-shut-down", 2),
        (["started", "started"], "broker-died", 1),
        (["shutting down", "shut down completed", "starting", "started"], "broker-shut-down", 3),
        ([*BEGINS, FAILED, *LEAVES, *BEGINS], "broker-failed", 7),
        ([*BEGINS, FAILED, *BEGINS], "broker-failed", 3),
        ([*BEGINS, TIMED_OUT, FAILED, *BEGINS], "broker-failed", 3),
        (["started", FAILED, "shutting down", "shut down completed", "started"], "broker-failed", 3),
        ([FAILED, "shutting down"], "broker-failed", 0),
        ([*BEGINS, *LEAVES, FAILED, *BEGINS], "broker-shut-down", 7),
    ],
)
def test_a_life(details: list[str], what: str | None, lasted: int | None) -> None:
    """With the logs of the broker and of the controller, with one of them, and with ZooKeeper."""
    found = noted(brokers.LEDGER, lives(*details))
    assert [each.what for each in found] == [what] * (what is not None)
    for each in found:
        assert each.broker == 2
        assert each.from_ms is not None
        assert (None if each.to_ms is None else (each.to_ms - each.from_ms) // SECOND) == lasted


def test_a_controller_that_starts_reads_registrations_again() -> None:
    rows = lives(*BEGINS, "registered, epoch 9", "registration changed", "unfenced")
    assert noted(brokers.LEDGER, rows) == []


def test_what_comes_after_is_another_time() -> None:
    rows = lives(*BEGINS, *LEAVES, *BEGINS, TIMED_OUT, "unfenced", *BEGINS)
    found = [each.what for each in noted(brokers.LEDGER, rows)]
    assert found == ["broker-shut-down", "broker-fenced", "broker-died"]


@pytest.mark.parametrize(
    ("ends", "after_ms", "lasted_ms"),
    [
        (("load", "finished in 90000 ms"), MINUTE, 90_000),
        (("load", "finished in 900 ms"), MINUTE, 0),
        (("load", "left"), MINUTE, MINUTE),
        (("load", "failed: CorruptRecordException"), SECOND, 0),
        (("broker", "in controlled shutdown"), MINUTE, 0),
        (("broker", "unfenced"), MINUTE, None),
    ],
)
def test_a_load(ends: tuple[str, str], after_ms: int, lasted_ms: int | None) -> None:
    """One that has not ended lasts until the end of the files, whenever that is."""
    about: dict[str, Any] = {"topic": "__consumer_offsets", "partition": 3}
    rows = Rows(broker=2).add("load", detail="began", **about)
    rows.add(ends[0], after_ms, detail=ends[1], **(about if ends[0] == "load" else {}))
    found = [each for each in noted(brokers.LEDGER, rows) if each.what == "loading"]
    assert len(found) == (lasted_ms != 0)
    for each in found:
        assert (each.broker, each.topic, each.partition) == (2, "__consumer_offsets", 3)
        assert each.from_ms is not None
        assert (None if each.to_ms is None else each.to_ms - each.from_ms) == lasted_ms
