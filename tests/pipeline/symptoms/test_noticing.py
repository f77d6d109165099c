"""Which notes of ledgers are symptoms, and how they are told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.pipeline.ledgers import Note
from mockbroker.pipeline.symptoms import KINDS, symptoms

ABOUT: dict[str, Any] = {"topic": "orders", "partition": 0, "from_ms": 1_000, "to_ms": 2_000}
BILLING: dict[str, Any] = {**ABOUT, "group": "billing"}


def made(what: str, *files: str, **values: Any) -> Note:
    return Note(what, tuple((file, 1, "commit") for file in files or ("a.log",)), **values)


NOTES = [
    made("acknowledged-missing", "a", **ABOUT, offset=1000, end_offset=2500),
    made("acknowledged-missing", "b", **ABOUT, offset=1200, end_offset=2600),
    made("acknowledged-missing", "c", **{**ABOUT, "partition": 1}, offset=1000, end_offset=2500),
    *(made("commit-back", f"broker{n}/log", **BILLING, offset=1200, end_offset=2500) for n in range(3)),
    made("records-skipped", **{**BILLING, "group": "reports"}, offset=300, end_offset=1000),
    made("commit-missing", **{**BILLING, "group": "reports"}, offset=300),
    *(
        made("written-twice", f"broker{n}", **ABOUT, producer_id=7, offset=at, end_offset=at + 5, number=5)
        for n in range(2)
        for at in (110, 115, 300)
    ),
    made("reset", **{**ABOUT, "client": "c"}, offset=500, detail="earliest"),
    made("log-start", **ABOUT, offset=900),
    *(
        made("broker-died", "a", broker=broker, from_ms=broker * 1_000, to_ms=9_000 * broker)
        for broker in (1, 2)
    ),
    made("broker-fenced", broker=3, from_ms=4_000),
    made("unsettled", group="g", from_ms=0, to_ms=9_000, number=40),
]
TOLD = [
    "10 records of producer 7 are in orders-0 twice, again from offset 110",
    "1,500 acknowledged records of orders-1 are gone: offsets 1000 to 2499",
    "1,600 acknowledged records of orders-0 are gone: offsets 1000 to 2599",
    "5 records of producer 7 are in orders-0 twice, again from offset 300",
    "broker 1 went away without being shut down, and came back after 8 s",
    "broker 2 went away without being shut down, and came back after 16 s",
    "broker 3 was fenced because its session had timed out, and was still away 46 s later",
    "client c never got 400 records of orders-0: offsets 500 to 899",
    "group g had 40 more new epochs in 9 s, and no member joined or left",
    "group reports never got 700 records of orders-0: offsets 300 to 999",
    "the committed offset of group billing for orders-0 went back from 2500 to 1200, by 1,300 records",
]


@given(st.permutations(NOTES))
def test_each_thing_is_told_once_in_whatever_order_files_and_ledgers_tell_it(notes: list[Note]) -> None:
    found = symptoms(notes, 50_000)
    assert sorted(each.told for each in found) == sorted(TOLD)
    assert found == symptoms(NOTES, 50_000)


@pytest.mark.parametrize(
    ("note", "least_ms"),
    [
        (made("transaction-open", **ABOUT, producer_id=7, offset=51), 60_000),
        (made("stands-still", **BILLING, offset=51, number=3), 60_000),
        (made("no-leader", **ABOUT), 30_000),
        (made("producers-refused", **ABOUT, number=9, detail="NOT_ENOUGH_REPLICAS"), 30_000),
        (made("rebalance", group="g"), 60_000),
        (made("broker-shut-down", broker=2), 600_000),
        (made("loading", **ABOUT, broker=2), 60_000),
        (made("broker-fenced", broker=2), 2_000),
        (made("reassignment", **ABOUT), 600_000),
        (made("topic-unknown", topic="orders", number=9), 30_000),
    ],
)
def test_what_lasts_too_long(note: Note, least_ms: int) -> None:
    def lasting(took_ms: int) -> Note:
        return note._replace(from_ms=5_000, to_ms=5_000 + took_ms)

    assert symptoms([lasting(least_ms - 1)]) == []
    (found,) = symptoms([lasting(least_ms)])
    assert f"{least_ms // 1000} s" in found.told


def test_an_offset_that_went_with_its_group() -> None:
    missing = made("commit-missing", **BILLING, offset=300)
    gone = made("group-gone", group="billing", from_ms=1_500, to_ms=1_500)
    assert symptoms([missing, gone]) == []
    assert len(symptoms([missing, gone._replace(to_ms=900)])) == 1
    assert len(symptoms([missing, gone._replace(group="reports")])) == 1


def test_what_has_not_ended_goes_on_until_the_last_row() -> None:
    note = made("no-leader", **{**ABOUT, "to_ms": None})
    (found,) = symptoms([note], until_ms=61_000)
    assert found.told == "orders-0 had no leader for 60 s"
    assert symptoms([note], until_ms=9_000) == []


@pytest.mark.parametrize("start", [None, 500, 400])
def test_a_reset_to_where_nobody_knows(start: int | None) -> None:
    notes = [made("reset", **BILLING, offset=500, detail="earliest")]
    if start is not None:
        notes.append(made("log-start", **ABOUT, offset=start))
    (found,) = symptoms(notes)
    told = "group billing gave up its position 500 of orders-0, and went on at the earliest offset"
    assert (found.name, found.told) == ("position-lost", told)


def test_what_happens_again_and_again_is_told_with_its_largest() -> None:
    """As if two applications had the same group."""
    notes = [made("commit-back", **BILLING, offset=at, end_offset=at + 10 + at) for at in range(100)]
    first, *rest = sorted(symptoms(notes), key=lambda each: -(each.count or 0))
    assert first.told.endswith("from 208 to 99, by 109 records (100 times in all)")
    assert [each.count for each in rest] == [108, 107, 106, 105]


def test_each_kind_can_be_told() -> None:
    whole = {
        "offset": 1,
        "end_offset": 3,
        "number": 50_000,
        "detail": "it",
        "producer_id": 7,
        "client": "c",
        "broker": 2,
    }
    for kind in KINDS:
        (found,) = symptoms([made(kind.of, **BILLING, **whole)._replace(from_ms=0, to_ms=900_000)])
        assert found.name == kind.name
        assert found.as_json()["told"] == found.told
        assert "None" not in found.told
