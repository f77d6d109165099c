"""What is noted of a partition, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.ledgers.partitions import LEDGER

from .folding import MINUTE, OFFSETS, SECOND, Rows, noted, told

ABOUT: dict[str, Any] = {"topic": "orders", "partition": 0}
TRANSACTIONAL: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "detail": "transactional"}


def brokers(**always: Any) -> Rows:
    return Rows("broker1/server.log", broker=1, **ABOUT, **always)


def segment(broker: int = 1) -> Rows:
    return Rows(f"broker{broker}/orders-0/0.log", "segment", **ABOUT)


def commits(epoch: int | None, offset: int = 2500) -> Rows:
    return Rows(OFFSETS, "segment", **ABOUT).add("commit", group="g", offset=offset, leader_epoch=epoch)


def led(*leaders: tuple[int, int]) -> Rows:
    rows = brokers()
    for epoch, offset in leaders:
        rows.add("leader", leader=1, leader_epoch=epoch, offset=offset)
    return rows


def test_records_that_a_later_leader_lacks() -> None:
    (found,) = noted(LEDGER, led((0, 0), (2, 1000)), commits(epoch=0))
    assert (found.what, found.offset, found.end_offset) == ("acknowledged-missing", 1000, 2500)
    assert found.group is None


def test_no_clock_is_needed_for_that() -> None:
    late = commits(epoch=0)
    late.add("commit", MINUTE, group="g", offset=2600, leader_epoch=0)
    assert told(LEDGER, led((0, 0), (2, 1000), (3, 1200)), late) == [("acknowledged-missing", 1000, 2600)]


def other_leader(begins: int, *, leads: bool = True) -> list[Rows]:
    """Broker 1 tells its high watermark, and broker 2 leads after it."""
    first = led((0, 0)) if leads else brokers().add("leader", leader=3, leader_epoch=0, offset=0)
    first.add("high-watermark", offset=700, end_offset=800)
    second = Rows("broker2/server.log", broker=2, **ABOUT)
    return [first, second.add("leader", MINUTE, leader=2, leader_epoch=1, offset=begins)]


def test_the_next_leader_began_below_the_high_watermark_of_the_last() -> None:
    (found,) = noted(LEDGER, *other_leader(500))
    assert (found.what, found.offset, found.end_offset) == ("acknowledged-missing", 500, 700)
    assert [file for file, *_ in found.rows] == ["broker1/server.log", "broker2/server.log"]


def test_what_only_the_last_leader_had_was_not_acknowledged() -> None:
    assert noted(LEDGER, *other_leader(700)) == []
    assert noted(LEDGER, *other_leader(500, leads=False)) == []


@pytest.mark.parametrize("epoch", [2, None])
def test_records_of_the_same_epoch_are_there(epoch: int | None) -> None:
    assert told(LEDGER, led((0, 0), (2, 1000)), commits(epoch)) == []


def test_a_topic_that_is_deleted_takes_its_records_along() -> None:
    rows = led((0, 0)).add("log", 10 * SECOND, detail="deleted")
    rows.add("leader", leader=1, leader_epoch=1, offset=0)
    assert told(LEDGER, commits(epoch=0), rows) == []


def test_a_replica_that_cuts_below_its_high_watermark() -> None:
    cut: dict[str, Any] = {"offset": 1000, "detail": "due to leader epoch and offset EpochEndOffset(…)"}
    rows = brokers().add("high-watermark", offset=2500).add("truncation", **cut)
    assert told(LEDGER, rows) == [("acknowledged-missing", 1000, 2500)]
    assert told(LEDGER, brokers().add("high-watermark", offset=900).add("truncation", **cut)) == []


def answers(*batches: tuple[int, int], **values: Any) -> Rows:
    rows = Rows("trace.jsonl", "trace", **ABOUT)
    for first, last in batches:
        rows.add("append", offset=first, end_offset=last, **values)
    return rows


def test_offsets_that_two_producers_got() -> None:
    rows = answers((0, 100), (100, 102), (90, 101), (102, 250))
    assert told(LEDGER, rows) == [("acknowledged-missing", 90, 100), ("acknowledged-missing", 100, 101)]
    assert (
        told(LEDGER, answers((0, 100)).add("log", detail="deleted").add("append", offset=0, end_offset=9))
        == []
    )


@pytest.mark.parametrize(
    ("batches", "values"),
    [
        (((0, 10), (12, 14), (10, 12)), {}),
        (((0, 10), (0, 10)), {"producer_id": 7, "producer_epoch": 0, "sequence": 0}),
    ],
)
def test_answers_in_another_order_and_given_again(
    batches: tuple[tuple[int, int], ...], values: dict[str, Any]
) -> None:
    assert told(LEDGER, answers(*batches, **values)) == []


def test_a_log_that_was_not_written_whole_is_read_again() -> None:
    rows = brokers().add("high-watermark", offset=2500)
    rows.add("truncation", offset=1000, detail="Corruption found in segment 0")
    assert told(LEDGER, rows) == []


def test_a_transaction_that_nobody_ends() -> None:
    rows = segment().add("append", offset=51, end_offset=52, **TRANSACTIONAL)
    rows.add("append", 2 * MINUTE, offset=52, end_offset=90)
    (found,) = noted(LEDGER, rows)
    assert (found.what, found.offset, found.end_offset, found.producer_id) == ("transaction-open", 51, 90, 7)


def stable(*ends: tuple[int, int, int]) -> Rows:
    """High watermarks as traces tell them: after how long, the last stable offset, and the high watermark."""
    rows = Rows("trace.jsonl", "trace", **ABOUT)
    for after_ms, last_stable, high in ends:
        rows.add("high-watermark", after_ms, from_offset=last_stable, offset=high, end_offset=high)
    return rows


@pytest.mark.parametrize("answered_ms", [500, 1_500])
def test_a_last_stable_offset_that_stands_still(answered_ms: int) -> None:
    """The producer is told before the high watermark is, or after it."""
    answer = Rows("trace.jsonl", "trace", **ABOUT)
    answer.add("append", answered_ms, offset=51, end_offset=53, producer_id=7, producer_epoch=0)
    (found,) = noted(LEDGER, stable((SECOND, 51, 53), (2 * MINUTE, 51, 90)), answer)
    assert (found.what, found.offset, found.end_offset, found.producer_id) == ("transaction-open", 51, 90, 7)
    assert [kind for _, _, kind in found.rows] == ["append", "high-watermark"]


def test_last_stable_offsets_that_go_on() -> None:
    ended = stable((SECOND, 51, 53), (2 * MINUTE, 54, 54), (SECOND, 54, 60), (5 * SECOND, 54, 61))
    assert noted(LEDGER, ended) == []
    assert noted(LEDGER, stable((SECOND, 51, 53), (2 * MINUTE, 70, 75), (SECOND, 71, 90))) == []
    # A capture says the same again, while nobody writes.
    assert noted(LEDGER, stable((SECOND, 51, 53), (SECOND, 51, 60), (2 * MINUTE, 51, 60))) == []
    anew = stable((SECOND, 51, 53)).add("log", MINUTE, detail="deleted")
    assert noted(LEDGER, anew.add("high-watermark", MINUTE, from_offset=51, offset=90)) == []


@pytest.mark.parametrize(("how", "notes"), [("commit", 0), ("abort", 1)])
def test_a_transaction_that_ends_late(how: str, notes: int) -> None:
    """One that its producer commits was meant to last so long."""
    rows = segment().add("append", offset=51, end_offset=52, **TRANSACTIONAL)
    marker: dict[str, Any] = {**TRANSACTIONAL, "detail": f"transactional, control {how}"}
    rows.add("append", 2 * MINUTE, offset=52, end_offset=53, **marker)
    assert len(noted(LEDGER, rows)) == notes


def test_a_batch_twice_in_one_log() -> None:
    batch: dict[str, Any] = {"producer_id": 7, "producer_epoch": 0, "sequence": 20}
    logs = [
        segment(broker)
        .add("append", offset=100, end_offset=110, **batch)
        .add("append", offset=110, end_offset=120, **batch)
        for broker in (1, 2)
    ]
    assert told(LEDGER, *logs) == [("written-twice", 110, 120)] * 2


def test_a_new_epoch_of_a_producer_begins_anew() -> None:
    rows = segment().add("append", offset=0, end_offset=5, producer_id=7, producer_epoch=0, sequence=0)
    rows.add("append", offset=5, end_offset=10, producer_id=7, producer_epoch=1, sequence=0)
    assert told(LEDGER, rows) == []


def test_a_disk_that_failed() -> None:
    """The broker says so; that nobody leads it tells later, and nothing if another one leads."""
    rows = Rows(topic="orders", partition=0, broker=2)
    rows.add("leader", leader=2, leader_epoch=0, offset=0).add("leader", detail="its disk has failed")
    rows.add("leader", MINUTE, leader=-1, leader_epoch=1).add("leader", leader=2, leader_epoch=2, offset=50)
    (found,) = noted(LEDGER, rows)
    assert (found.what, found.to_ms - found.from_ms) == ("no-leader", MINUTE + SECOND)  # type: ignore[operator]
    moved = Rows(topic="orders", partition=0, broker=2)
    moved.add("leader", leader=2, leader_epoch=0, offset=0).add("leader", detail="its disk has failed")
    moved.add("leader", broker=1, leader=1, leader_epoch=1, offset=0)
    moved.add("leader", MINUTE, leader=2, leader_epoch=2, offset=50)
    assert noted(LEDGER, moved) == []


def test_a_partition_without_a_leader() -> None:
    rows = brokers().add("leader", leader=-1).add("leader", MINUTE, leader=-1).add("leader", leader=2)
    (found,) = noted(LEDGER, rows)
    assert (found.what, found.to_ms - found.from_ms) == ("no-leader", MINUTE + SECOND)  # type: ignore[operator]
    (found,) = noted(LEDGER, brokers().add("leader", leader=-1))
    assert (found.what, found.to_ms) == ("no-leader", None)


TIMED_OUT = "fenced: its session timed out"


@pytest.mark.parametrize(("leader", "epoch", "lasted"), [(2, 3, MINUTE), (2, 9, 0), (1, 3, 0)])
def test_a_partition_is_without_a_leader_since_its_last_one_was_lost(
    leader: int, epoch: int, lasted: int
) -> None:
    """That of the epoch before, not any broker that was lost."""
    rows = Rows().add("leader", broker=leader, leader=leader, leader_epoch=2, offset=9)
    rows.add("broker", broker=2, detail=TIMED_OUT)
    rows.add("leader", MINUTE, broker=2, leader=-1, leader_epoch=epoch, offset=9)
    (found,) = noted(LEDGER, rows)
    assert (found.what, found.to_ms) == ("no-leader", None)
    assert rows.rows[-1].at_ms - (found.from_ms or 0) == lasted


def silent(seconds: int = 60) -> Rows:
    """A follower whose leader, broker 2, does not answer."""
    rows = brokers()
    for _ in range(seconds):
        rows.add("unanswered", broker=1, leader=2)
    return rows


def test_a_leader_that_answers_nobody_until_there_is_another() -> None:
    (found,) = noted(LEDGER, silent().add("leader", broker=1, leader=1))
    assert (found.what, found.to_ms - found.from_ms) == ("no-leader", MINUTE)  # type: ignore[operator]


@pytest.mark.parametrize(
    "rows",
    [
        silent(),
        silent(5).add("leader", broker=1, leader=1),
        silent().add("leader", broker=1, leader=2),
        silent().add("append", offset=0, end_offset=5).add("leader", broker=1, leader=1),
        silent(2).add("unanswered", MINUTE, broker=1, leader=2).add("leader", broker=1, leader=1),
    ],
    ids=["no other one", "soon", "itself", "it takes records", "it answered meanwhile"],
)
def test_a_leader_that_answers_somebody(rows: Rows) -> None:
    assert noted(LEDGER, rows) == []


def test_refusals_one_after_the_other() -> None:
    rows = Rows("client.log", "client-log", **ABOUT, api="Produce", error="NOT_ENOUGH_REPLICAS")
    for _ in range(20):
        rows.add("refused", 2 * SECOND)
    (found,) = noted(LEDGER, rows)
    assert (found.what, found.number) == ("producers-refused", 20)


def test_a_refusal_now_and_then() -> None:
    rows = Rows("client.log", "client-log", **ABOUT, api="Produce", error="NOT_LEADER_OR_FOLLOWER")
    for _ in range(5):
        rows.add("refused", 20 * SECOND)
    assert noted(LEDGER, rows) == []


def group_that_commits(*offsets: int) -> Rows:
    rows = Rows(OFFSETS, "segment", **ABOUT)
    for offset in offsets:
        rows.add("commit", 30 * SECOND, group="g", offset=offset, leader_epoch=0)
    return rows


def test_a_group_that_commits_and_does_not_go_on() -> None:
    log = segment().add("append", offset=0, end_offset=500)
    (found,) = noted(LEDGER, log, group_that_commits(50, 51, 51, 51, 51))
    assert (found.what, found.group, found.offset, found.end_offset) == ("stands-still", "g", 51, 500)


@pytest.mark.parametrize("offsets", [(500,) * 5, (51, 51, 51, 51, 400)])
def test_a_group_that_has_all_or_goes_on(offsets: tuple[int, ...]) -> None:
    log = segment().add("append", offset=0, end_offset=500)
    assert noted(LEDGER, log, group_that_commits(*offsets)) == []
