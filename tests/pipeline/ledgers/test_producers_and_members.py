"""What is noted of producers and of members of groups, row by row."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.ledgers import members, producers

from ..rows import History
from ..short_histories import NO_TOPIC
from ..symptoms.test_explaining import analyzed
from .folding import MINUTE, SECOND, Rows, noted

FENCED = "m-1 fenced: the member session expired"


@pytest.mark.parametrize(
    ("error", "then", "for_good"),
    [
        ("INVALID_PRODUCER_ID_MAPPING", "Ongoing orders-0", True),
        ("PRODUCER_FENCED", "Ongoing orders-0", True),
        ("INVALID_TRANSACTION_TIMEOUT", "Ongoing orders-0", True),
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", "Ongoing orders-0", False),
        ("UNKNOWN_SERVER_ERROR", "Ongoing orders-0", False),
        ("UNKNOWN_SERVER_ERROR", "Empty", True),
        ("OUT_OF_ORDER_SEQUENCE_NUMBER", "PrepareAbort orders-0", True),
        ("INVALID_PRODUCER_EPOCH", "CompleteCommit", False),
        ("INVALID_PRODUCER_EPOCH", "initialized", False),
        ("PRODUCER_FENCED", "initialized", True),
    ],
)
def test_a_producer_that_is_refused(error: str, then: str, *, for_good: bool) -> None:
    rows = Rows(transactional_id="payments").add("transaction", detail="Empty", source="segment")
    rows.add("refused", error=error).add("refused", error=error).add("transaction", detail=then)
    found = noted(producers.LEDGER, rows)
    assert [(each.what, each.number, each.detail) for each in found] == [
        ("producer-refused", 2, error)
    ] * for_good


@pytest.mark.parametrize("error", ["OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID"])
@pytest.mark.parametrize("source", ["broker-log", "client-log"])
def test_logs_do_not_tell_whether_a_producer_wrote_in_the_end(error: str, source: str) -> None:
    alone = Rows(source=source, producer_id=7).add("refused", error=error)
    assert noted(producers.LEDGER, alone) == []
    before = Rows(source="segment", producer_id=7).add("append", after_ms=0)
    assert [each.what for each in noted(producers.LEDGER, before, alone)] == ["producer-refused"]


def test_a_producer_that_writes_again() -> None:
    rows = Rows(producer_id=7).add("refused", error="UNKNOWN_PRODUCER_ID").add("append", producer_epoch=1)
    assert noted(producers.LEDGER, rows) == []


@pytest.mark.parametrize("again", [True, False])
def test_a_producer_that_begins_anew_with_its_transactional_id(*, again: bool) -> None:
    """The broker that refused it names the producer alone."""
    begun: dict[str, Any] = {"transactional_id": "payments", "detail": "initialized", "producer_id": 7}
    history = History("broker-log").add("transaction", producer_epoch=0, **NO_TOPIC, **begun)
    history.add("refused", producer_id=7, producer_epoch=0, error="INVALID_PRODUCER_EPOCH")
    if again:
        history.add("transaction", producer_epoch=2, **NO_TOPIC, **begun)
    found = [(each.name, each.who) for each in analyzed(history).symptoms]
    assert found == [("producer-refused", "producer 7")] * (not again)


def test_a_member_that_is_put_out() -> None:
    rows = Rows(group="g").add("member", detail="m-1 joined").add("member", detail=FENCED)
    (found,) = noted(members.LEDGER, rows)
    assert (found.what, found.client, found.detail) == ("member-fenced", "m-1", "the member session expired")
    assert noted(members.LEDGER, rows.add("member", detail="m-1 joined")) == []


def test_a_member_that_is_put_out_and_leaves() -> None:
    for detail in ("m-1 left", "m-1 left: the consumer is being closed"):
        rows = Rows(group="g").add("member", detail=FENCED).add("member", detail=detail)
        assert noted(members.LEDGER, rows) == []


@pytest.mark.parametrize(
    ("apart_ms", "count", "unsettled"),
    [(8 * SECOND, 5, True), (8 * SECOND, 4, False), (7 * SECOND, 5, False), (2 * MINUTE, 5, False)],
)
def test_members_that_fall_silent_one_after_the_other(apart_ms: int, count: int, *, unsettled: bool) -> None:
    """Not those that are silent at once, nor one now and then."""
    rows = Rows(group="g")
    for number in range(count):
        rows.add("member", apart_ms, detail=f"m-{number} left: its session expired")
        rows.add("member", 0, detail=f"m-{number} left: its session expired")  # the line is in two files
    found = noted(members.LEDGER, rows)
    assert [(each.what, each.number) for each in found] == [("unsettled", count)] * unsettled


def test_members_that_can_not_log_in() -> None:
    (found,) = noted(members.LEDGER, Rows(group="g").add("refused", error="SASL_AUTHENTICATION_FAILED"))
    assert (found.what, found.detail) == ("member-refused", "SASL_AUTHENTICATION_FAILED")


def test_members_that_are_refused() -> None:
    rows = Rows(group="g", error="GROUP_ID_NOT_FOUND").add("refused").add("refused").add("refused")
    (found,) = noted(members.LEDGER, rows)
    assert (found.what, found.number, len(found.rows)) == ("member-refused", 3, 2)


def epochs(rows: Rows, first: int, last: int) -> Rows:
    for generation in range(first, last):
        rows.add("group", detail="new group epoch, metadata hash 1", generation=generation)
    return rows


def test_epochs_without_a_member_that_comes_or_goes() -> None:
    (found,) = noted(members.LEDGER, epochs(Rows(group="g"), 2, 14))
    assert (found.what, found.number) == ("unsettled", 11)


@pytest.mark.parametrize("change", [{"detail": "new group epoch, metadata hash 2"}, {"after_ms": 2 * MINUTE}])
def test_topics_and_time_begin_anew(change: dict[str, Any]) -> None:
    rows = epochs(Rows(group="g"), 2, 8)
    rows.add("group", **{"detail": "new group epoch, metadata hash 1", "generation": 8, **change})
    numbers = [each.number for each in noted(members.LEDGER, epochs(rows, 9, 14))]
    assert numbers[0] == 5


@pytest.mark.parametrize(
    "row", [("tombstone", "consumer group"), ("tombstone", "classic group"), ("group", "Dead")]
)
def test_a_group_that_is_deleted(row: tuple[str, str]) -> None:
    kind, detail = row
    assert [each.what for each in noted(members.LEDGER, Rows(group="g").add(kind, detail=detail))] == [
        "group-gone"
    ]
    assert noted(members.LEDGER, Rows(group="g").add("tombstone", detail="consumer member m-1")) == []


def test_members_make_new_epochs() -> None:
    rows = Rows(group="g")
    for number in range(20):
        epochs(rows.add("member", detail=f"m-{number} joined"), number, number + 1)
    assert noted(members.LEDGER, rows) == []


@pytest.mark.parametrize(("until", "notes"), [("Stable", 1), ("CompletingRebalance", 1)])
def test_a_rebalance_that_lasts(until: str, notes: int) -> None:
    rows = Rows(group="g").add("group", detail="PreparingRebalance: a member leaves")
    rows.add("group", MINUTE, detail=until)
    found = noted(members.LEDGER, rows)
    assert [each.what for each in found] == ["rebalance"] * notes


def test_a_rebalance_that_ends_soon() -> None:
    rows = Rows(group="g").add("group", detail="PreparingRebalance").add("group", 3 * SECOND, detail="Stable")
    assert noted(members.LEDGER, rows.add("group", MINUTE, detail="Empty")) == []


COMMIT: dict[str, Any] = {
    "api": "OffsetCommit",
    "error": "CommitFailedException",
    "source": "client-log",
    "topic": "orders",
    "partition": 3,
}


def test_commits_that_are_refused() -> None:
    rows = Rows(group="g", **COMMIT).add("refused", offset=7).add("refused", offset=9)
    found = noted(members.LEDGER, rows.add("refused", partition=4, offset=1))
    assert {each.what for each in found} == {"commit-refused"}
    assert [(each.topic, each.partition, each.number) for each in found] == [
        ("orders", 3, 2),
        ("orders", 4, 1),
    ]
