"""What a share group never got, got again, gave up, or could not have."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.pipeline.ledgers.reading import LEDGERS

from .folding import MINUTE, SECOND, Rows, told

LEDGER = LEDGERS["share groups and partitions"]
GROUP: dict[str, Any] = {"group": "jobs", "client": "worker"}
NOW, WAITED = "asked 0 ms before", "asked 90000 ms before"


class Story(Rows):
    """A share group and the partition that it reads, which broker 1 leads."""

    def __init__(self) -> None:
        super().__init__("trace.jsonl", "trace", topic="orders", partition=0)
        self.add("leader", leader=1, leader_epoch=4)

    def write(self, first: int, end: int) -> Story:
        self.add("append", offset=first, end_offset=end, broker=1)
        return self

    def at(self, start: int, *flight: str, after_ms: int = SECOND, coordinator: int = 1) -> Story:
        self.add(
            "share-partition",
            after_ms,
            group="jobs",
            broker=coordinator,
            offset=start,
            detail=", ".join(flight) or None,
        )
        return self

    def give(self, first: int, end: int, delivery: int = 1, asked: str = NOW, broker: int = 1) -> Story:
        self._of_records("acquired", first, end, f"delivery {delivery}, {asked}", broker=broker)
        return self

    def say(self, first: int, end: int, what: str, error: str | None = None) -> Story:
        self._of_records("acknowledging", first, end, what)
        self._of_records("acknowledged", first, end, f"{what}, {NOW}", broker=1, error=error)
        return self

    def session(self, detail: str, after_ms: int = SECOND) -> Story:
        self.add("share-session", after_ms, **GROUP, detail=detail, broker=1)
        return self

    def delete_up_to(self, offset: int) -> Story:
        self.add("log-start", offset=offset)
        return self

    def alter(self, offset: int, *details: str) -> Story:
        for each in details:
            self.add("share-offset", group="jobs", client="admin", offset=offset, detail=each)
        return self

    def _of_records(self, kind: str, first: int, end: int, detail: str, **more: Any) -> None:
        self.add(kind, **GROUP, offset=first, end_offset=end, detail=detail, **more)


def begun() -> Story:
    """Ten records, and a group that begins with the first."""
    return Story().write(0, 10).at(-1).at(0)


def by_rule(story: Story) -> list[tuple[str, int | None, int | None]]:
    return [each for each in told(LEDGER, story) if each[0] != "share-began"]


def test_records_that_nobody_was_given() -> None:
    assert by_rule(begun().at(4)) == [("share-skipped", 0, 4)]
    assert by_rule(begun().give(1, 3).say(1, 3, "accept").at(4)) == [
        ("share-skipped", 0, 1),
        ("share-skipped", 3, 4),
    ]


def test_records_that_are_given_later_are_not_skipped() -> None:
    assert by_rule(begun().at(4).at(0).give(0, 4).say(0, 4, "accept").at(4)) == []


def test_records_that_are_not_there() -> None:
    assert by_rule(Story().at(-1).at(0).at(4)) == []
    assert by_rule(begun().delete_up_to(4).at(4)) == []


def test_offsets_of_a_compacted_topic() -> None:
    assert by_rule(begun().at(0, "0-3 archived 0").at(4)) == []


def test_records_that_were_given_once() -> None:
    acquired = begun().at(0, "0-3 acquired 1 m 9").give(0, 4)
    assert by_rule(acquired.at(4)) == [("share-passed", 0, 4)]


@pytest.mark.parametrize("said", ["accept", "reject", "gap"])
def test_records_that_are_done(said: str) -> None:
    assert by_rule(begun().at(0, "0-3 acquired 2 m 9").give(0, 4, 2).say(0, 4, said).at(4)) == []


@pytest.mark.parametrize("before", ["acquired 5 m 9", "available 5"])
def test_records_that_are_given_up(before: str) -> None:
    passed = begun().at(0, f"0-0 {before}, 1-1 acknowledged 1, 2-2 {before}").at(3)
    assert by_rule(passed) == [("share-worn", 0, 3)]
    archived = begun().at(0, "0-0 available 1", f"1-1 {before}").at(0, "0-0 available 1", "1-1 archived 5")
    assert by_rule(archived) == [("share-worn", 1, 2)]


def test_a_refused_acknowledgement_does_not_count() -> None:
    refused = begun().at(0, "0-0 acquired 2 m 9").say(0, 1, "accept", "INVALID_RECORD_STATE")
    assert by_rule(refused.at(1)) == [("share-worn", 0, 1)]
    unknown = begun().at(0, "0-0 acquired 2 m 9").say(0, 1, "accept", "COORDINATOR_NOT_AVAILABLE")
    assert by_rule(unknown.at(1)) == []


def test_records_that_are_given_after_they_were_accepted() -> None:
    done = begun().give(0, 10).say(0, 10, "accept").at(10)
    assert by_rule(done.give(2, 5, 2)) == [("share-again", 2, 5)]


def test_records_that_are_given_again_as_they_should() -> None:
    assert by_rule(begun().give(0, 10).say(0, 10, "release").give(0, 10, 2)) == []
    lost = begun().give(0, 10).say(0, 10, "accept", "COORDINATOR_NOT_AVAILABLE")
    assert by_rule(lost.give(0, 10, 2)) == []


def test_what_was_acquired_before_others_accepted_it() -> None:
    assert by_rule(begun().give(0, 10, 2).say(0, 10, "accept").give(0, 10, 1, WAITED)) == []


def test_a_leader_that_is_cut_off_gives_what_another_gave() -> None:
    assert by_rule(begun().give(0, 10).say(0, 10, "accept").give(0, 10, 1, broker=2)) == []


def test_members_that_wait() -> None:
    waiting = begun().session("m was given nothing")
    assert by_rule(waiting.session("m was given nothing", MINUTE)) == [("share-stands", 0, 10)]
    ended = begun().session("m was given nothing").session("m was given nothing", MINUTE).give(0, 10)
    assert by_rule(ended) == [("share-stands", 0, 10)]


def test_members_that_wait_for_what_is_not_there() -> None:
    done = begun().give(0, 10).say(0, 10, "accept").at(10)
    assert by_rule(done.session("m was given nothing").session("m was given nothing", MINUTE)) == []
    deleted = begun().session("m was given nothing").session("m was given nothing", MINUTE).delete_up_to(10)
    assert by_rule(deleted.at(10)) == []


def test_a_lock_of_a_session_that_ended() -> None:
    def locked(after_ms: int) -> Story:
        return (
            begun().at(0, "0-3 acquired 1 m 9").session("m ended").at(0, "0-3 available 1", after_ms=after_ms)
        )

    assert by_rule(locked(30 * SECOND)) == [("share-locked", 0, 4)]
    assert by_rule(locked(SECOND)) == []
    another = (
        begun().at(0, "0-3 acquired 1 m 9").session("m2 ended").at(0, "0-3 available 1", after_ms=MINUTE)
    )
    assert by_rule(another) == []


def test_a_start_offset_behind_the_log_start() -> None:
    deleted = begun().delete_up_to(4).give(4, 6).say(4, 6, "accept").at(6, "6-7 acquired 1 m 9")
    assert by_rule(deleted.at(2, "2-7 acquired 1 m 9"))[:1] == [("share-start-back", 2, 6)]


def test_a_new_leader_begins_before_the_log_start() -> None:
    deleted = begun().delete_up_to(4)
    assert by_rule(deleted.at(4, "4-7 acquired 1 m 9").give(4, 10).at(2, "2-7 available 1")) == []


def test_a_group_is_told_to_begin_elsewhere() -> None:
    done = begun().give(0, 10).say(0, 10, "accept").at(10)
    assert by_rule(done.alter(2, "asked", "done").at(10).at(2).give(2, 10).say(2, 10, "accept").at(10)) == []


def test_a_group_that_is_told_to_begin_elsewhere_and_does_not() -> None:
    done = begun().give(0, 10).say(0, 10, "accept").at(10)
    assert by_rule(done.alter(2, "asked", "done").at(10)) == [("share-skipped", 2, 10)]
    told_later = begun().alter(6, "asked", "done").at(0).give(0, 2).say(0, 2, "accept")
    assert by_rule(told_later) == [("share-offset-ignored", 6, 0)]
    assert by_rule(begun().alter(6, "asked", "unanswered")) == [("share-offset-ignored", 6, None)]


@pytest.mark.parametrize("answered", [["refused"], []])
def test_a_group_that_may_have_been_told(answered: list[str]) -> None:
    assert by_rule(begun().alter(6, "asked").at(6).alter(6, *answered).give(6, 10).at(6)) == []


def test_a_group_that_begins_anew() -> None:
    assert by_rule(begun().give(0, 2).say(0, 2, "accept").at(2).at(-1).at(9)) == []
    away = begun().at(-1, coordinator=-1).at(4)
    assert by_rule(away) == [("share-skipped", 0, 4)]
