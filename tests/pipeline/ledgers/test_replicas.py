"""Which replicas are not in sync, and when that is noticed."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.ledgers import Note, reading
from mockbroker.pipeline.ledgers.brokers import TIMED_OUT
from mockbroker.pipeline.ledgers.replicas import LEDGER
from mockbroker.pipeline.observations import arrow_schema
from mockbroker.pipeline.symptoms import symptoms

from .folding import MINUTE, SECOND, START_MS, Rows, noted

LONG = 11 * MINUTE
HOUR = 60 * MINUTE
"""How long the logs go on, as the rows have it."""


def led(partition: int = 0) -> Rows:
    """Broker 1 leads, and three replicas are in sync."""
    always: dict[str, Any] = {"topic": "orders", "partition": partition, "offset": START_MS + HOUR}
    rows = Rows("broker1/server.log", **always)
    return rows.add("in-sync-replicas", broker=1, leader_epoch=3, replicas="1,2,3")


def shrunk(partition: int = 0) -> Rows:
    rows = led(partition)
    return rows.add("in-sync-replicas", leader=1, broker=1, replicas="1,2", detail="shrank from 1, 2, 3")


def left(rows: Rows, broker: int = 3) -> Rows:
    return rows.add("broker", broker=broker, detail=TIMED_OUT)


def told(notes: list[Note]) -> list[str]:
    return [each.told for each in symptoms(notes)]


def table_of(rows: Rows) -> pa.Table:
    """The rows as they are read."""
    schema = arrow_schema()
    replicas = [row.replicas and [int(each) for each in row.replicas.split(",")] for row in rows.rows]
    found = [
        {name: value for name, value in row._asdict().items() if name in schema.names} | {"replicas": ids}
        for row, ids in zip(rows.rows, replicas, strict=True)
    ]
    return pa.Table.from_pylist(found, schema)


@pytest.mark.parametrize(("after_ms", "tells"), [(MINUTE, True), (50 * SECOND, False)])
def test_a_follower_that_is_slow(after_ms: int, *, tells: bool) -> None:
    rows = shrunk().add("in-sync-replicas", after_ms, leader=1, broker=1, replicas="1,2,3")
    said = "for 60 s replicas of orders-0 were not in sync on broker 3, although nothing tells that"
    assert [each[: len(said)] for each in told(noted(LEDGER, rows))] == [said] * tells


@pytest.mark.parametrize(("after_ms", "tells"), [(LONG, True), (9 * MINUTE, False)])
def test_a_broker_that_is_away(after_ms: int, *, tells: bool) -> None:
    """With KRaft nobody logs that the ISR is smaller then."""
    rows = left(led()).add("in-sync-replicas", after_ms, leader=1, broker=1, replicas="1,2,3")
    said = "for 660 s replicas of orders-0 were not in sync on broker 3, which was away"
    assert told(noted(LEDGER, rows)) == [said] * tells


def test_fifty_partitions_are_told_once() -> None:
    notes = [note for partition in range(50) for note in noted(LEDGER, left(led(partition)))]
    (found,) = symptoms(notes)
    assert found.told == (
        "for 3598 s replicas of orders-0, orders-1, orders-2, orders-3, orders-4 and 45 more partitions were "
        "not in sync on broker 3, which was away; some still are not at the end"
    )
    assert (found.broker, found.topic, found.partition, found.count) == (3, None, None, 50)


def test_two_brokers_are_told_each() -> None:
    rows = left(left(led()), 2)
    assert {each.broker for each in symptoms(noted(LEDGER, rows))} == {2, 3}


@pytest.mark.parametrize(
    "rows",
    [
        led(),
        shrunk().add("leader", broker=2, leader=2, leader_epoch=4),
        left(shrunk(), 1).add("broker", broker=1, detail="unfenced"),
        left(led()).add("broker", broker=3, detail="unfenced"),
        shrunk().add("reassignment", detail="completed", replicas="1,2"),
        shrunk().add("log", broker=3, detail="deleted"),
        shrunk().add("log", detail="deleted"),
        led().add("in-sync-replicas", leader=2, broker=2, replicas="2", detail="shrank from 1, 2, 3"),
        led().add("in-sync-replicas", broker=2, leader_epoch=2, replicas="2"),
        left(Rows(topic="orders", partition=0).add("in-sync-replicas", broker=1, replicas="1"), 1),
    ],
    ids=[
        *("all in sync", "another leader", "its leader leaves", "back soon", "moved", "deleted there"),
        *("topic deleted", "a leader that was cut off", "an earlier leader", "the only replica"),
    ],
)
def test_what_is_not_told(rows: Rows) -> None:
    """Nor what the log of another leader, which is not among the files, would tell better."""
    assert told(noted(LEDGER, rows)) == []


@pytest.mark.parametrize("broker", [None, 3])
def test_what_was_deleted_does_not_go_on(broker: int | None) -> None:
    """The replica has gone by when its broker leaves again; of another topic of that name it is out."""
    rows = left(led()).add("broker", broker=3, detail="unfenced").add("log", broker=broker, detail="deleted")
    left(rows).add("broker", broker=3, detail="unfenced")
    rows.add("in-sync-replicas", LONG, broker=2, leader_epoch=4 if broker else 0, replicas="1,2,3")
    left(rows).add("in-sync-replicas", LONG, leader=2, broker=2, replicas="1,2,3")
    (one,) = noted(LEDGER, rows)
    assert ((one.to_ms or 0) - (one.from_ms or 0)) // MINUTE == 11


def test_what_a_leader_tells_again() -> None:
    """It goes on after the broker is back, and after another one leads."""
    rows = left(led()).add("broker", broker=3, detail="unfenced")
    rows.add("in-sync-replicas", 20 * MINUTE, broker=2, leader_epoch=4, replicas="1,2")
    rows.add("in-sync-replicas", leader=2, broker=2, replicas="1,2,3")
    (one,) = noted(LEDGER, rows)
    assert ((one.to_ms or 0) - (one.from_ms or 0)) // MINUTE == 20


@pytest.mark.parametrize(
    "topics",
    [
        [f"orders-{day}" for day in range(30)],
        ["orders", *(f"orders-{day}" for day in range(28)), "orders"],
    ],
    ids=["after the last word", "between two words"],
)
def test_restarts_while_a_partition_is_not_told_of(tmp_path: Path, topics: list[str]) -> None:
    """Rows would grow with the square: each restart for each partition that there ever was."""
    rows = Rows("broker1/server.log")
    for topic in topics:
        of_day: dict[str, Any] = {"topic": topic, "partition": 0}
        rows.add("in-sync-replicas", broker=1, leader_epoch=3, replicas="1,2,3", **of_day)
        rows.add("broker", broker=3, detail=TIMED_OUT)
        rows.add("in-sync-replicas", broker=1, leader_epoch=3, replicas="1,2", **of_day)
        rows.add("broker", broker=3, detail="unfenced")
        rows.add("in-sync-replicas", broker=1, leader_epoch=3, replicas="1,2,3", **of_day)
        rows.add("broker", HOUR, broker=3, detail=TIMED_OUT)
        rows.add("broker", LONG, broker=3, detail="unfenced")
    with closing(DuckEngine(tmp_path)) as engine:
        notes = reading.noted(engine.table(table_of(rows)), LEDGER)
    # Each was short of broker 3 while it was told of, and the first time after that.
    assert Counter(each.topic for each in notes) == Counter(topics * 2)
    assert [(each.to_ms or 0) - (each.from_ms or 0) >= LONG for each in notes].count(True) == 30
