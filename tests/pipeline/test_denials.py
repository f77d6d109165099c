"""What clients try in vain: addresses, ACLs, codecs, and what is not told of those who succeed in the end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mockbroker.pipeline.readers.denial_messages import NO_TOPIC as NO_TOPIC_CODE
from mockbroker.pipeline.signatures import (
    commits_past_end,
    failures,
    invalid_records,
    not_authorized,
    reassignments,
    renamed_groups,
    throttled_clients,
    topics_deleted,
)

from .rows import SECOND, History, Search, found_in
from .short_histories import (
    NO_TOPIC,
    denied,
    foreign,
    keyless,
    stuck,
    throttled,
    timed_out_records,
    unresolved,
    vain,
)

MINUTE = 60 * SECOND


def first(history: History, count: int) -> History:
    history.rows = history.rows[:count]
    return history


def of_another_leader() -> History:
    """It lost what was read: the commit was right when it was made."""
    rows = History("segment").add("append", offset=0, end_offset=100, leader_epoch=3)
    rows.commit(110).out_of_range(110, source="client-log")
    return rows.add("append", offset=100, end_offset=105, leader_epoch=4)


def appended_later() -> History:
    """A segment whose producer's clock is behind: the log has what was committed."""
    rows = foreign()
    return rows.add("append", -MINUTE, offset=120, end_offset=6000, leader_epoch=3)


def ended() -> History:
    return stuck().add("reassignment", detail="completed")


def came_back() -> History:
    return stuck().add("broker", broker=3, detail="unfenced", **NO_TOPIC)


@pytest.mark.parametrize(
    ("history", "search"),
    [
        (first(denied(), 12), not_authorized.find),
        (first(unresolved(), 12), failures.find),
        (of_another_leader(), commits_past_end.find),
        (appended_later(), commits_past_end.find),
        (first(throttled(), 3), throttled_clients.find),
        (first(timed_out_records(), 5), throttled_clients.find),
        (timed_out_records("client-id=v: producer_byte_rate = 200.0"), throttled_clients.find),
        (timed_out_records("client-id=w: consumer_byte_rate = 200.0"), throttled_clients.find),
        (timed_out_records("client-id=w: producer_byte_rate = none"), throttled_clients.find),
        (ended(), reassignments.find),
        (came_back(), reassignments.find),
    ],
)
def test_what_is_none(history: History, search: Search) -> None:
    assert found_in(history.rows, search) == []


@pytest.mark.parametrize(
    ("make", "search", "told"),
    [
        (
            denied,
            not_authorized.find,
            "group billing were refused 40 times in 39 s with GROUP_AUTHORIZATION_",
        ),
        (unresolved, failures.find, "broker 2 advertises broker2.internal, a name that clients could not"),
        (
            foreign,
            commits_past_end.find,
            "committed 5000 for group billing in orders-0, whose log ended at 100:",
        ),
        (
            stuck,
            reassignments.find,
            "orders-0 (adding 4, 3, removing 2) had not ended after 60 s: broker 3 was",
        ),
        (
            throttled,
            throttled_clients.find,
            "4 times, and had to wait 38 s in all; it is a member of group billing; consumer_byte_rate of",
        ),
        (
            timed_out_records,
            throttled_clients.find,
            "records of client w were not acknowledged in time for 35 s, and may be written all the same; ",
        ),
        (
            keyless,
            invalid_records.find,
            "orders-0 refused records 1 time in 0 s with INVALID_RECORD: they have",
        ),
    ],
)
def test_what_is_told(make: Callable[[], History], search: Search, told: str) -> None:
    (one,) = found_in(make().rows, search)
    assert told in one.summary


@pytest.mark.parametrize(
    ("quotas", "told"),
    [
        (["client-id=default: consumer_byte_rate = 9.0"], "certain"),
        (["client-id=a: producer_byte_rate = 9.0", "client-id=b: consumer_byte_rate = 9.0"], "certain"),
        (["client-id=b: consumer_byte_rate = 9.0"], "likely"),
        (["client-id=a: consumer_byte_rate = 9.0", "client-id=a: consumer_byte_rate = none"], "likely"),
        (["client-id=a, user=b: consumer_byte_rate = 9.0"], "likely"),
    ],
)
def test_whose_quota_it_is(quotas: list[str], told: str) -> None:
    rows = History("broker-log")
    for each in quotas:
        rows.add("quota", detail=each, **NO_TOPIC)
    (one,) = found_in([*rows.rows, *throttled().rows[1:]], throttled_clients.find)
    assert one.confidence == told


@pytest.mark.parametrize(
    ("quota", "told"),
    [
        ("client-id=w: request_percentage = 1.0", "likely"),
        ("client-id=default: producer_byte_rate = 200.0", "possible"),
    ],
)
def test_why_records_were_not_acknowledged(quota: str, told: str) -> None:
    """Another quota of the client was set since, which has nothing to do with it."""
    quotas = [
        *timed_out_records(quota).rows[:1],
        *timed_out_records("client-id=w: consumer_byte_rate = 9.0").rows,
    ]
    (one,) = found_in(quotas, throttled_clients.find)
    assert one.confidence == told


def test_a_topic_that_was_missing_before() -> None:
    """Before it was created, and after it was deleted, twice."""
    rows = vain(History("broker-log"), NO_TOPIC_CODE, topic="orders", detail="orders")
    for _ in range(2):
        rows.add("log", 5 * MINUTE, detail="deleted", partition=None)
        vain(rows, NO_TOPIC_CODE, topic="orders", detail="orders")
    found = found_in(rows.rows, topics_deleted.find)
    gone = [each.time_ms for each in rows.rows if each.kind == "log"]
    assert sorted(each.from_ms for each in found) == gone


def test_how_far_a_group_that_is_refused_is_behind() -> None:
    rows = denied().commit(50, -MINUTE).commit(7, partition=1)
    rows.add("append", offset=40, end_offset=90).add("append", offset=0, end_offset=10, partition=1)
    (one,) = found_in(rows.rows, not_authorized.find)
    assert one.summary.endswith("; it stands at 50 of orders-0, and 43 records are unread")


def test_times_that_are_ahead() -> None:
    rows = History("client-log")
    said = f"Timestamp {rows.now_ms + 86_400_000} of message with offset 0 is out of range."
    rows.refused("INVALID_TIMESTAMP", api="Produce", client="a", detail=said, **NO_TOPIC)
    (one,) = found_in(rows.rows, invalid_records.find)
    assert "their time is 24 h after the broker's, more than message.timestamp.after.max.ms" in one.summary


@pytest.mark.parametrize(
    ("name", "first_commit", "returns", "found"),
    [
        ("billing-v2", 160, False, True),
        ("billing-v2", 160, True, False),
        ("billing-v2", 90, False, False),
        ("shipping", 160, False, False),
        ("billing-81357", 160, False, False),
    ],
)
def test_a_group_with_another_name(name: str, first_commit: int, returns: bool, found: bool) -> None:
    rows = History("segment").commit(100).add("append", offset=100, end_offset=150)
    rows.commit(first_commit, group=name)
    if returns:
        rows.commit(155)
    told = [each.summary for each in found_in(rows.rows, renamed_groups.find)]
    assert [("stopped at 100 in orders-0, 50 records" in each) for each in told] == [True] * found


def test_whose_times_are_told_by_a_broker_and_by_a_client() -> None:
    """The client's log does not say where it was refused."""
    rows = keyless()
    own: dict[str, Any] = {"api": "Produce", "client": "a", "source": "client-log", **NO_TOPIC}
    rows.refused("INVALID_RECORD", 0, **own).refused("INVALID_RECORD", **own)
    (one,) = found_in(rows.rows, invalid_records.find)
    assert one.topic == "orders"
    assert "refused records 2 times" in one.summary
