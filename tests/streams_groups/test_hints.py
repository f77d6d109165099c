"""What a cluster says of a streams group whose members get no tasks."""

from collections.abc import Iterator
from typing import Any

import pytest

from mockbroker.control.streams_hints import streams_group

from .in_memory import in_memory
from .stage import StreamsStage

LONG_MS = 30_000


@pytest.fixture
def s() -> Iterator[StreamsStage]:
    with in_memory("hints") as stage:
        yield stage


def _cluster(s: StreamsStage) -> Any:
    return s.brokers.cluster  # type: ignore[attr-defined]


def _hints(s: StreamsStage) -> list[str]:
    broker = _cluster(s).brokers[1]
    (group,) = broker.groups.groups.values()
    return [each.replace(s.named(""), "") for each in streams_group(broker, group)]


def _later(s: StreamsStage) -> None:
    _cluster(s).advance(_cluster(s).now_ms + LONG_MS)


def test_nothing_is_said_of_a_group_that_has_its_tasks(s: StreamsStage) -> None:
    s.topic("lines", 2)
    members = [s.member(each) for each in "AB"]
    for each in members:
        each.join(*s.words())
    s.settle(members)
    _later(s)
    assert _hints(s) == []


def test_topics_are_missing_that_nobody_creates(s: StreamsStage) -> None:
    s.member().join(*s.words())
    (hint,) = _hints(s)
    assert hint == (
        "the streams group 'g' is NotReady, and assigns no tasks: Source topics lines are missing "
        "(brokers create only internal topics: create the others)"
    )


def test_an_internal_topic_can_not_be_created(s: StreamsStage) -> None:
    s.topic("lines")
    s.member().join(s.reading("lines", state_changelog_topics=[s.internal("totals", nonsense="1")]))
    s.brokers.until(lambda: "totals could not be created: " in _hints(s)[0], "the failure to be known")
    (hint,) = _hints(s)
    assert "Internal topics are missing: totals" in hint


def test_topics_have_different_numbers_of_partitions(s: StreamsStage) -> None:
    s.topic("lines", 2)
    s.topic("pairs", 3)
    s.member().join(s.reading("lines", "pairs", copartition_groups=[{"source_topics": [0, 1]}]))
    (hint,) = _hints(s)
    assert "do not have the same number of partitions: [{lines=2, pairs=3}] (topics that are read" in hint


def test_a_group_waits_for_more_members(s: StreamsStage) -> None:
    s.topic("lines")
    s.configure("g", streams_initial_rebalance_delay_ms="3000")
    s.member().join(s.reading("lines"))
    (hint,) = _hints(s)
    assert hint == (
        "the streams group 'g' waits for more members before it assigns tasks "
        "(group.streams.initial.rebalance.delay.ms=3000)"
    )


def test_a_member_keeps_what_it_has_to_give_up(s: StreamsStage) -> None:
    s.topic("lines", 2)
    one, two = s.member(), s.member("B")
    one.run(s.reading("lines"))
    two.join(s.reading("lines"))
    kept = one.owned
    one.ask(one.epoch, **kept)
    assert _hints(s) == []
    _later(s)
    (hint,) = _hints(s)
    assert f"the member {one.id} of the streams group 'g' still has what it has" in hint
    assert "0_1: it says so" in hint


def test_there_are_more_members_than_tasks(s: StreamsStage) -> None:
    s.topic("lines", 1)
    members = [s.member(each) for each in "AB"]
    for each in members:
        each.join(s.reading("lines"))
    idle = next(who for who, tasks in s.settle(members).items() if not tasks)
    _later(s)
    assert _hints(s) == [f"the streams group 'g' has fewer tasks than members: none for {idle}"]


def test_a_member_asks_all_to_shut_down(s: StreamsStage) -> None:
    s.topic("lines", 1)
    one = s.member()
    one.run(s.reading("lines"))
    one.beat(shutdown_application=True)
    (hint,) = _hints(s)
    assert hint.startswith(f"the member {one.id} of the streams group 'g' has asked for all instances")
