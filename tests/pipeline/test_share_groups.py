"""Share groups that somebody set elsewhere, that gave records up, or whose records were deleted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mockbroker.pipeline.signatures import administrators, share_groups

from .rows import History, Row, searched
from .symptoms.test_explaining import analyzed

Found = dict[str, list[Row]]


def states(*told: tuple[int | None, int | None, str | None]) -> History:
    """Start offset, end of what is done, and the states of records, of each; the first state is empty."""
    rows = History("segment")
    for offset, end, detail in ((None, None, "whole"), *told):
        rows.add("share-state", group="jobs", offset=offset, end_offset=end, detail=detail)
    return rows


def let_go(times: int, *more: tuple[int | None, int | None, str | None]) -> History:
    given = [(4, None, f"4-4 available {nth}") for nth in range(1, times)]
    return states((0, 10, "0-3 acknowledged 1, 5-9 acknowledged 1"), *given, *more)


READ = (0, 300, "0-299 acknowledged 1")
WARNED = let_go(3, (4, 5, "4-4 archived 3"))
WARNED.add("share-warning", -2_500, group="jobs", offset=4, source="broker-log")


def limited(group: str, rows: History, limits: dict[int, str]) -> History:
    """Of a group of that name, with its settings, by how long before the last row they were told."""
    rows.rows = [replace(each, group=group) for each in rows.rows]
    for ago_ms, detail in limits.items():
        about: dict[str, Any] = {"source": "broker-log", "topic": None, "partition": None}
        rows.add("config", -ago_ms, group=group, detail=detail, **about)
        rows.now_ms += ago_ms
    return rows.add("config", -2_500, group=group, detail="acks = -1", source="client-log", client="app")


TWO = "share.auto.offset.reset = earliest, share.delivery.count.limit = 2"
TEN = "share.delivery.count.limit = 10"
FOUND = {
    "back": states(READ, (0, None, "whole"), (0, 1100, "0-1099 acknowledged 1")),
    "on": states(READ, (1000, None, "whole"), (1000, 1100, "1000-1099 acknowledged 1")),
    "given up": let_go(5, (4, 5, "4-4 archived 5")),
    "given up with others": let_go(5, (4, 9, "4-4 archived 2, 5-6 acknowledged 1, 7-8 archived 5")),
    "given up, as the leader says": WARNED,
    "lowered": limited("a", let_go(2, (4, 5, "4-4 archived 2")), {9_000: TEN, 8_000: TWO, 7_000: TWO}),
    "raised": limited("b", let_go(10, (4, 5, "4-4 archived 10")), {9_000: TEN}),
}
NONE = {
    "a new group": states(READ),
    "a group that begins anew": states(READ, (None, None, "whole"), (500, 600, "500-599 acknowledged 1")),
    "a state that was deleted": states(READ, (None, None, "deleted"), (0, None, "whole")),
    "a state that is written anew": states(READ, (300, 310, "whole, 300-309 acknowledged 1")),
    "a state that is kept": states((10, None, "whole"), (10, None, "whole")),
    "a record that is rejected": let_go(2, (4, 5, "4-4 archived 2")),
    "a record that is rejected before a greater limit": limited(
        "c", let_go(5, (4, 5, "4-4 archived 5")), {9_000: TEN}
    ),
    "a record that is rejected before the limit was lowered": limited(
        "d", let_go(2, (4, 5, "4-4 archived 2")), {-1_000: TWO}
    ),
    "a record that is rejected when the limit was removed": limited(
        "e", let_go(2, (4, 5, "4-4 archived 2")), {9_000: TWO, 8_000: "none"}
    ),
    "a record that is accepted at last": let_go(5, (4, 5, "4-4 acknowledged 5")),
}


@pytest.fixture(scope="module")
def found() -> Found:
    return searched(share_groups.find, {**FOUND, **NONE})


@pytest.mark.parametrize(
    ("name", "signature", "confidence", "summary"),
    [
        ("back", "share-offsets-reset", "likely", "jobs in back/orders-0 was set back from 300 to 0"),
        ("on", "share-offsets-reset", "likely", "jobs in on/orders-0 was set on from 300 to 1000"),
        (
            "given up",
            "delivery-limit-reached",
            "possible",
            "the record at offset 4 of given up/orders-0 after 5",
        ),
        (
            "given up with others",
            "delivery-limit-reached",
            "possible",
            "the records at offsets 7 to 8 of given up with others/orders-0 after 5",
        ),
        (
            "given up, as the leader says",
            "delivery-limit-reached",
            "likely",
            "the record at offset 4 of given up, as the leader says/orders-0 after 3",
        ),
        (
            "lowered",
            "delivery-limit-reached",
            "likely",
            "; 8000 ms before, somebody had lowered share.delivery.count.limit of the group from 10 to 2",
        ),
        (
            "raised",
            "delivery-limit-reached",
            "possible",
            "gave up, or rejected in the end, the record at offset 4 of raised/orders-0 after 10",
        ),
    ],
)
def test_what_is_found(found: Found, name: str, signature: str, confidence: str, summary: str) -> None:
    (one,) = found[name]
    assert (one.signature, one.confidence) == (signature, confidence)
    assert summary in one.summary


@pytest.mark.parametrize("name", NONE)
def test_what_is_none(found: Found, name: str) -> None:
    assert found[name] == []


def test_what_is_noticed_of_a_record_depends_on_the_limit_of_its_group() -> None:
    low, high = (
        analyzed(rows)
        for rows in (FOUND["lowered"], NONE["a record that is rejected before a greater limit"])
    )
    assert [(each.name, each.group, each.offset) for each in low.symptoms] == [
        ("share-records-given-up", "a", 4)
    ]
    assert (high.symptoms, high.incidents) == ([], [])


def deleted(below: int, *told: tuple[int | None, int | None, str | None]) -> History:
    rows = states(*told)
    detail = "client delete records request"
    return rows.add("log-start", offset=below, detail=detail, broker=1, source="broker-log")


def test_records_that_a_share_group_had_not_got() -> None:
    in_disorder = ((0, 300, "200-299 acknowledged 1"), (0, 200, "0-199 acknowledged 1"))
    found = searched(
        administrators.find,
        {"missed": deleted(900, READ), "read": deleted(300, READ), "disorder": deleted(300, *in_disorder)},
    )
    (one,) = found["missed"]
    assert (one.signature, one.confidence) == ("records-deleted", "certain")
    assert "share group jobs had acknowledged none of the 600 from 300 on" in one.summary
    assert found["read"] == found["disorder"] == []
