"""What the offsets topic tells by itself: offsets that go back, and tombstones of groups that are alive."""

from __future__ import annotations

import pytest

from .rows import DAY, SECOND, History, Row, healthy, searched

Found = dict[str, list[Row]]
MINUTE = 60 * SECOND
MONTH = 31 * DAY


class Topic(History):
    """A dump of the offsets topic, by a tool that tells of groups too, unless `source` is another."""

    def __init__(self, source: str = "dump-log") -> None:
        super().__init__(source)

    def commit(self, offset: int, after_ms: int = SECOND, **values: object) -> Topic:
        super().commit(offset, after_ms, **{"client": None, "generation": None, **values})
        return self

    def group(self, generation: int, detail: str = "Stable", after_ms: int = SECOND) -> Topic:
        own = {"topic": None, "partition": None, "group": "billing"}
        self.add("group", after_ms, generation=generation, detail=detail, **own)
        return self

    def tombstone(self, after_ms: int = SECOND, **values: object) -> Topic:
        self.add("tombstone", after_ms, **{"group": "billing", "detail": "committed offset", **values})
        return self

    def group_tombstone(self, detail: str = "classic group", after_ms: int = SECOND) -> Topic:
        own = {"topic": None, "partition": None}
        return self.tombstone(after_ms, detail=detail, **own)

    def without_times(self) -> Topic:
        """As the console consumer's formatters print tombstones."""
        for row in self.rows:
            row.time_ms = None if row.kind == "tombstone" else row.time_ms
        return self

    def runs(self, times: int = 6) -> Topic:
        """The group reads two topics every third day, and has no members in between."""
        for run in range(1, times + 1):
            self.group(2 * run - 1, after_ms=3 * DAY).commit(100 * run).commit(10 * run, topic="other")
            self.group(2 * run, "Empty")
        return self

    def tombstones(self, after_ms: int) -> Topic:
        return self.tombstone(after_ms).tombstone(0, topic="other")


def offsets_only() -> Topic:
    return Topic("console-consumer")


FOUND = {
    "a load stopped early": Topic()
    .group(1)
    .commit(6_811)
    .commit(90_000, MONTH)
    .commit(91_000)
    .group(2)
    .commit(6_900),
    "offsets only": offsets_only().commit(6_811).commit(90_000, MONTH).commit(6_811),
    "a group that was not loaded": Topic().group(57).commit(6_811).commit(90_000, MONTH).group(1).commit(20),
    "within a generation": Topic().group(1).commit(500).commit(450),
    "always from the beginning": Topic()
    .group(1)
    .commit(500)
    .commit(1_000)
    .commit(90_000, MONTH)
    .group(2)
    .commit(500),
    "of the newer type": Topic()
    .group(1, "consumer member m-1")
    .group(1, "consumer group")
    .commit(6_811)
    .commit(90_000, MONTH)
    .group(2, "consumer group")
    .commit(6_811),
    "cleanup during a load": Topic().group(1).commit(500).commit(9_000, MONTH).tombstone().commit(9_100),
    "reset to earliest": Topic().group(1).commit(500).commit(9_000, MONTH).tombstone().commit(20),
    "a neighbour is spared": Topic()
    .group(1)
    .commit(500)
    .commit(9_000, 3 * DAY)
    .commit(700, partition=1)
    .tombstone()
    .commit(710, partition=1),
    "at the end of the log": Topic().group(1).commit(500).commit(9_000, MONTH).tombstone(),
    "without times": offsets_only()
    .commit(500)
    .commit(9_000, MONTH)
    .tombstone()
    .commit(9_100, 60 * SECOND)
    .without_times(),
    "several partitions": Topic()
    .group(1)
    .commit(500)
    .commit(600, partition=1)
    .commit(9_000, MONTH)
    .commit(9_500, partition=1)
    .tombstone()
    .tombstone(partition=1)
    .commit(9_000)
    .commit(9_500, partition=1),
    "between runs": Topic().runs().tombstones(3 * DAY + MINUTE).group(13).commit(20),
}
RESET = {
    "an operator's reset": Topic()
    .group(1)
    .commit(500)
    .commit(9_000)
    .group(2, "Empty")
    .commit(500, leader_epoch=None)
    .group(3)
    .commit(510),
    "set on": Topic()
    .group(1)
    .commit(500)
    .group(2, "Empty")
    .commit(9_000, leader_epoch=None)
    .group(3)
    .commit(9_010),
}
NONE = {
    "set on, and nobody came back": Topic()
    .group(1)
    .commit(500)
    .group(2, "Empty")
    .commit(9_000, leader_epoch=None),
    "a consumer that is no member goes on": Topic()
    .group(1)
    .commit(500)
    .group(2, "Empty")
    .commit(600, leader_epoch=None)
    .commit(700, leader_epoch=None)
    .group(3)
    .commit(710),
    "commits that crossed": Topic().group(1).commit(500).commit(450, 3).commit(600),
    "several that crossed": Topic()
    .group(1)
    .commit(500)
    .commit(450, 3)
    .commit(480, 3)
    .commit(600, 5 * SECOND),
    "commits that crossed at the end": Topic().group(1).commit(500).commit(450, 3),
    "commits that crossed, of offsets only": offsets_only().commit(500).commit(450, 3).commit(600),
    "a rebalance": Topic().group(1).commit(500).group(2).commit(500).commit(600),
    "an operator's reset of the newer type": Topic()
    .group(1, "consumer member m-1")
    .commit(500)
    .commit(9_000)
    .group_tombstone("consumer member m-1")
    .group(2, "consumer group")
    .commit(500)
    .group(3, "consumer member m-2")
    .commit(510),
    "an operator's reset in a dump of offsets": offsets_only()
    .commit(500)
    .commit(9_000)
    .commit(500, leader_epoch=None)
    .commit(510),
    "a consumer without a group": Topic().commit(500).commit(9_000).commit(500).group(1, "Stable"),
    "an aborted transaction": Topic().group(1).commit(500).commit(400, detail="in a transaction"),
    "a dead group expires": Topic()
    .group(1)
    .commit(500)
    .commit(9_000, MONTH)
    .group(2, "Empty")
    .tombstone(7 * DAY)
    .group_tombstone(after_ms=0),
    "a dead group expires, offsets only": offsets_only()
    .commit(500)
    .commit(9_000, MONTH)
    .tombstone(7 * DAY)
    .without_times(),
    "a topic that no member reads expires": Topic()
    .group(1)
    .commit(500)
    .commit(9_000, MONTH)
    .commit(10, 7 * DAY, partition=1)
    .tombstone()
    .commit(11, partition=1),
    "a group is deleted": Topic()
    .group(1)
    .commit(500)
    .commit(9_000, MONTH)
    .group(2, "Empty")
    .tombstone()
    .group_tombstone(after_ms=0)
    .group(1)
    .commit(20),
    "a group of the newer type is deleted": Topic()
    .group(1, "consumer member m-1")
    .commit(500)
    .commit(9_000, MONTH)
    .tombstone()
    .group_tombstone("consumer member m-1", after_ms=0)
    .group_tombstone("consumer group", after_ms=0),
    "offsets are deleted": Topic()
    .group(1)
    .commit(500)
    .commit(9_000, MONTH)
    .group(2, "Empty")
    .tombstone()
    .group(3)
    .commit(9_100),
    "a topic is deleted": Topic()
    .group(1)
    .commit(500)
    .commit(9_000, 3 * DAY)
    .commit(600, topic="other", partition=1)
    .tombstone()
    .commit(610, topic="other", partition=1),
    "a topic is deleted and made again": Topic()
    .group(1)
    .commit(500)
    .commit(700, partition=1)
    .commit(9_000, 3 * DAY)
    .tombstone()
    .tombstone(partition=1)
    .commit(3)
    .commit(4, partition=1),
    "deleted, with a short history": Topic().group(1).commit(500).commit(9_000).tombstone().commit(9_100),
    "expired between runs": Topic()
    .runs()
    .tombstones(3 * DAY)
    .group_tombstone(after_ms=0)
    .group(1)
    .commit(20),
    "deleted after a longer time than ever": Topic().runs().tombstones(4 * DAY).group(13).commit(20),
    "one topic of two is deleted between runs": Topic().runs().tombstone(3 * DAY).group(13).commit(20),
    "deleted between runs, with a short history": Topic().runs(4).tombstones(3 * DAY).group(9).commit(20),
    "deleted soon after a run": Topic().runs().tombstones(SECOND).group(13).commit(20),
    "deleted after the last run": Topic().runs().tombstones(3 * DAY),
}


EVERY_DAY = "what real brokers write"


@pytest.fixture(scope="module")
def found() -> Found:
    from mockbroker.pipeline.signatures import offsets_topic

    return searched(offsets_topic.find, {**FOUND, **RESET, **NONE, EVERY_DAY: healthy()})


def test_an_operator_sets_an_offset_back(found: Found) -> None:
    (one,) = found["an operator's reset"]
    assert (one.signature, one.confidence) == ("admin-reset", "likely")
    assert "was set back from 9000 to 500" in one.summary


def test_an_operator_sets_an_offset_on(found: Found) -> None:
    (one,) = found["set on"]
    assert (one.signature, one.confidence) == ("admin-reset", "likely")
    assert "was set on from 500 to 9000" in one.summary


@pytest.mark.parametrize("story", NONE)
def test_what_somebody_asked_for(found: Found, story: str) -> None:
    assert found[story] == []


def test_real_brokers_write_nothing_that_looks_wrong_but_what_an_operator_reset(found: Found) -> None:
    assert {(each.signature, each.group) for each in found[EVERY_DAY]} == {
        ("admin-reset", "billing-classic"),
        ("admin-reset", "billing-consumer"),
    }


@pytest.mark.parametrize(
    ("story", "confidence", "why"),
    [
        ("a load stopped early", "likely", "after a rebalance a member went on from a commit"),
        ("of the newer type", "likely", "after a rebalance a member went on from a commit"),
        ("a group that was not loaded", "likely", "the group began again at a lower generation"),
        ("offsets only", "possible", "the dump has no records of groups"),
        ("always from the beginning", "possible", "a member went back"),
        ("within a generation", "possible", "a member went back"),
    ],
)
def test_an_offset_goes_back(found: Found, story: str, confidence: str, why: str) -> None:
    (one,) = found[story]
    assert (one.signature, one.confidence) == ("offset-rewind", confidence)
    assert one.why.startswith(why)
    assert (one.group, one.partition) == ("billing", 0)


def test_where_a_group_went_on_after_a_load_that_stopped_early(found: Found) -> None:
    (one,) = found["a load stopped early"]
    assert "committed 6900 for" in one.summary
    assert "84100 behind the 91000" in one.summary
    assert f"near its commit of 6811 from {MONTH + SECOND} ms before" in one.summary
    assert [each.position for each in one.evidence] == [2, 4, 6]


@pytest.mark.parametrize(
    ("story", "confidence", "why"),
    [
        ("cleanup during a load", "likely", "the group had members, went on committing"),
        ("a neighbour is spared", "likely", "the group had members, went on committing"),
        ("several partitions", "likely", "the group had members, went on committing"),
        ("reset to earliest", "possible", "the group had members and the log was not compacted for weeks"),
        (
            "at the end of the log",
            "possible",
            "the group had members and the log was not compacted for weeks",
        ),
        ("without times", "possible", "the dump does not tell whether the group had members"),
    ],
)
def test_the_offset_of_a_living_group_is_deleted(found: Found, story: str, confidence: str, why: str) -> None:
    (one,) = found[story]
    assert (one.signature, one.confidence) == ("tombstone-of-live-group", confidence)
    assert one.why.startswith(why)
    assert "the offset 9000 of group billing" in one.summary


def test_the_offset_of_a_group_between_its_runs_is_deleted(found: Found) -> None:
    one, other = found["between runs"]
    for each in one, other:
        assert (each.signature, each.confidence) == ("tombstone-of-live-group", "possible")
        assert each.why.startswith("the group had no members, but an earlier offset of it had lived as long")
    assert "the offset 600 of group billing" in one.summary
    assert [each.position for each in one.evidence] == [2, 22, 25, 28]
    assert "the offset 60 of group billing" in other.summary
    assert [each.position for each in other.evidence] == [3, 23, 26]


def test_partitions_of_a_topic_are_told_together(found: Found) -> None:
    (one,) = found["several partitions"]
    assert "-0 (and those of 1 more partitions) was deleted 2000 ms after it was committed" in one.summary
    assert one.partition is None
