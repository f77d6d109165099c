"""What coordinators log of the members and the epochs of consumer groups of Kafka 4."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.signatures import consumer_groups

from .rows import SECOND, History, Row, found_in, healthy, rows_of

EXPIRED = "the member session expired"
UUID = "ff439c37-8252-4cd0-b75f-0edf1348a3b"
LEFT = "left: its session expired"
LATE = "it failed to transition from epoch {} within 3000ms"


class Group:
    """A group of its own, whose rows are in a history."""

    def __init__(self, name: str) -> None:
        self.history = History("broker-log")
        self._own: dict[str, Any] = {"group": name, "topic": None, "partition": None, "broker": 1}
        self._epoch = 1

    def member(self, did: str, member: str = "a", after_ms: int = SECOND) -> Group:
        self.history.add("member", after_ms, detail=f"{member} {did}", **self._own)
        return self

    def silent(self, times: int, back_ms: int = SECOND, client: str = "app") -> Group:
        """A classic member, whose coordinator calls it anew each time."""
        for nth in range(times):
            self.member(LEFT, f"{client}-{UUID}{nth}", 30 * SECOND)
            self.member("joined", f"{client}-{UUID}{nth + 1}", back_ms)
        return self

    def epochs(self, count: int, topics: int | None = 7, after_ms: int = 5 * SECOND) -> Group:
        known = "" if topics is None else f", metadata hash {topics}"
        for _ in range(count):
            self._epoch += 1
            own = {"generation": self._epoch, "detail": f"new group epoch{known}", **self._own}
            self.history.add("group", after_ms, **own)
        return self

    def refused(self, error: str, why: str) -> Group:
        self.history.refused(error, api="ConsumerGroupHeartbeat", detail=why, **self._own)
        return self

    def come_and_go(self, times: int) -> Group:
        for _ in range(times):
            self.member("joined").epochs(1).member("left").epochs(1)
        return self


def stories() -> dict[str, Group]:
    named = (
        *("late", "again and again", "expired", "fenced for another reason", "joins and leaves"),
        *("never settles", "as 4.0 says it", "twice", "settles", "topics grow", "seldom"),
        *("refused", "too early", "another error"),
        *("silent", "silent once", "comes back late", "died", "others died"),
    )
    at = {name: Group(name) for name in named}
    at["late"].member("joined").epochs(2).member(f"fenced: {LATE.format(2)}").epochs(1)
    for epoch in (2, 3):
        at["again and again"].member(f"fenced: {LATE.format(epoch)}").member(f"fenced: {LATE.format(1)}", "b")
    at["expired"].member("joined").epochs(1).member(f"fenced: {EXPIRED}")
    at["fenced for another reason"].member("fenced: of the moon")
    at["joins and leaves"].come_and_go(30)
    at["never settles"].member("joined").epochs(12).member("left").epochs(1)
    at["as 4.0 says it"].member("joined").epochs(12, None)
    at["twice"].member("joined").epochs(11).member("joined", "b").epochs(21)
    at["settles"].member("joined").epochs(10)
    at["seldom"].epochs(30, after_ms=61 * SECOND)
    for _ in range(2):
        at["refused"].refused("GROUP_ID_NOT_FOUND", "online upgrade is disabled")
    at["too early"].refused("UNKNOWN_SERVER_ERROR", "No value present")
    at["another error"].refused("UNKNOWN_SERVER_ERROR", "out of memory")
    at["silent"].silent(3)
    at["silent once"].silent(1)
    at["comes back late"].silent(3, 11 * SECOND)
    for nth in range(4):
        at["died"].member(LEFT, f"app-{UUID}{nth}", 9 * SECOND)
        at["others died"].silent(1, client=f"app{nth}")
    for topics in range(20):
        at["topics grow"].epochs(1, topics)
    return at


STORIES = {name: each.history for name, each in stories().items()}


@pytest.fixture(scope="module")
def found() -> dict[str, list[Row]]:
    by: dict[str, list[Row]] = {name: [] for name in STORIES}
    for each in found_in([*rows_of(STORIES), *healthy().rows], consumer_groups.find):
        by[each.group].append(each)
    return by


@pytest.mark.parametrize(
    ("name", "signature", "confidence", "told"),
    [
        ("late", "rebalance-timeout", "certain", "within its rebalance timeout of 3000 ms"),
        ("again and again", "rebalance-timeout", "certain", "(4 times, 2 of its members)"),
        ("expired", "session-timeout", "certain", "member a of group expired sent no heartbeat"),
        ("silent", "session-timeout", "certain", "member app of group silent sent no heartbeat until"),
        ("never settles", "group-never-settles", "certain", "began 11 epochs in 55 s, from 2 to 13,"),
        ("as 4.0 says it", "group-never-settles", "likely", "began 11 epochs"),
        ("refused", "migration-refused", "certain", "group refused: online upgrade is disabled (2 times)"),
        ("too early", "joined-too-early", "likely", "while it was a classic one without a generation"),
        ("twice", "group-never-settles", "certain", "began 30 epochs in 156 s, from 2 to 33,"),
    ],
)
def test_what_is_found(
    found: dict[str, list[Row]], name: str, signature: str, confidence: str, told: str
) -> None:
    (one,) = found[name]
    assert (one.signature, one.confidence, one.broker) == (signature, confidence, 1)
    assert told in one.summary


def test_a_single_time_is_not_counted(found: dict[str, list[Row]]) -> None:
    assert found["late"][0].summary.endswith("until then others waited for them")
    assert len(found["late"][0].evidence) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("joins and leaves", "fenced for another reason", "settles", "topics grow", "seldom"),
        *("another error", "silent once", "comes back late", "died", "others died"),
    ],
)
def test_what_happens_every_day(found: dict[str, list[Row]], name: str) -> None:
    assert found[name] == []


def test_a_line_in_two_files_counts_once() -> None:
    rows = rows_of({"server": Group("g").epochs(7).history})
    copies = rows_of({"console": Group("g").epochs(7).history})
    assert found_in([*rows, *copies], consumer_groups.find) == []
