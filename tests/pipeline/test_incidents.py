"""LinkedIn's two rewinds arise in a cluster, and its offsets topic tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.offsets_log import commit_key
from mockbroker.replication.internal_append import append_own

from ..driving.groups import GroupDriver
from .readers.segments import segment
from .rows import DAY, Row, found_in

ORDERS = ("orders", 0)
SESSION_MS = 1_800_000
MINUTE_MS = 60_000
CONFIG = {
    "offsets.retention.check.interval.ms": MINUTE_MS,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 3,
}
UNREADABLE = commit_key("other", "orders", 0), b"\0\x09newer than any release"


class Group:
    """A group with one member, whose log is not compacted."""

    def __init__(self, **policies: str) -> None:
        own = {name.replace("_", "-"): value for name, value in policies.items()}
        self.driver = GroupDriver("3.9", {"compaction": "dead", **own}, brokers=3, **CONFIG)
        self.joins()

    def joins(self) -> None:
        (self.member,) = self.driver.stable(None, session_ms=SESSION_MS)

    def commits(self, *offsets: int) -> None:
        for offset in offsets:
            assert set(self.driver.commit({ORDERS: offset}, self.member).values()) == {0}

    def lives(self, days: int) -> None:
        """Is in the group all the time, and commits at the end of each day."""
        for day in range(days):
            for _ in range(DAY // SESSION_MS * 2):
                self.driver.advance(SESSION_MS // 2)
                assert self.driver.heartbeat(self.member) == 0
            self.commits(1_000 + 100 * day)

    def resumes(self) -> int:
        """Where the member starts when it is started again; -1 without an offset."""
        self.driver.leave(self.member.member_id)
        self.joins()
        return self.driver.offsets().get(ORDERS, -1)

    def finds_unreadable(self) -> None:
        partition = self.driver.cluster.offsets_partition("g").led
        assert partition is not None
        append_own(partition, key_values([UNREADABLE], self.driver.now_ms))

    def written(self, folder: Path) -> Path:
        partition = self.driver.cluster.offsets_partition("g").led
        assert partition is not None
        folder.mkdir()
        return segment(folder, b"".join(map(bytes, partition.log)), "__consumer_offsets-0")


def stopped_load(answer: str) -> Group:
    """One of another release wrote a record between old commits and new ones; then the coordinator moves."""
    group = Group(offsets_load=answer)
    group.commits(500)
    group.finds_unreadable()
    group.lives(3)
    group.driver.move_coordinator()
    found = group.resumes()
    assert found == {"stops": 500, "skips": 1_200, "loads-nothing": -1}[answer]
    group.commits(max(found, 0) + 10)
    return group


def cleanup(answer: str) -> Group:
    """The search for expired offsets runs during a load that takes minutes, and has only read old commits."""
    group = Group(offsets_cleanup=answer, offsets_load_pace="slow")
    group.commits(*range(700))
    group.lives(8)
    group.driver.move_coordinator()
    group.driver.advance(3 * MINUTE_MS)
    assert group.driver.heartbeat(group.member) == 0
    assert group.driver.offsets() == {"during-load": {}, "after-load": {ORDERS: 1_700}}[answer]
    group.commits(1_800)
    return group


STORIES = {
    "stops": stopped_load,
    "loads-nothing": stopped_load,
    "skips": stopped_load,
    "during-load": cleanup,
    "after-load": cleanup,
}
"""By the answer that is in force."""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Row]]:
    from mockbroker.pipeline.readers import read
    from mockbroker.pipeline.signatures import offsets_topic

    folder = tmp_path_factory.mktemp("logs")
    logs = [play(name).written(folder / name) for name, play in STORIES.items()]
    rows = [row for log in logs for row in read(log) if row.kind != "append"]
    result = found_in(rows, offsets_topic.find)
    return {name: [one for one in result if f"/{name}/" in one.evidence[0].file] for name in STORIES}


def test_a_load_that_stopped(found: dict[str, list[Row]]) -> None:
    (one,) = found["stops"]
    assert (one.signature, one.confidence, one.group) == ("offset-rewind", "likely", "g")
    assert "committed 510 for orders-0, 690 behind the 1200" in one.summary
    assert "near its commit of 500" in one.summary


def test_a_load_of_which_nothing_was_kept(found: dict[str, list[Row]]) -> None:
    (one,) = found["loads-nothing"]
    assert (one.signature, one.confidence) == ("offset-rewind", "likely")
    assert "committed 10 for orders-0, 1190 behind the 1200" in one.summary


def test_a_cleanup_that_raced_a_load(found: dict[str, list[Row]]) -> None:
    (one,) = found["during-load"]
    assert (one.signature, one.confidence, one.group) == ("tombstone-of-live-group", "likely", "g")
    assert "the offset 1700 of group g for orders-0 was deleted" in one.summary


def test_the_right_answers(found: dict[str, list[Row]]) -> None:
    assert found["skips"] == found["after-load"] == []
