"""What a streams group is survives its coordinator: all that is needed stands in records."""

from collections.abc import Iterator

import pytest

from mockbroker.coordinators.streams.group import StreamsGroup

from .in_memory import in_memory
from .stage import StreamsStage

QUIET_MS = 44_000


@pytest.fixture
def s() -> Iterator[StreamsStage]:
    with in_memory("restarts", lines=3) as stage:
        yield stage


def known(s: StreamsStage) -> StreamsGroup:
    cluster = s.brokers.cluster  # type: ignore[attr-defined]
    found = cluster.brokers[1].groups.groups[s.named("g")]
    assert isinstance(found, StreamsGroup)
    return found


def test_a_group_is_read_from_its_records(s: StreamsStage) -> None:
    s.configure("g", streams_num_standby_replicas="1")
    members = [s.member(each) for each in "AB"]
    for number, each in enumerate(members):
        each.join(*s.words(), rack_id="r", user_endpoint={"host": "h", "port": number})
    s.settle(members)
    members[0].join(*s.words())
    before = known(s)
    told = s.described()
    s.brokers.stop_broker(1)
    s.brokers.start_broker(1)
    s.close()
    s.brokers.until(s.coordinates, "the coordinator")
    after = known(s)
    assert after is not before
    for name in (
        "members",
        "target",
        "epoch",
        "assignment_epoch",
        "topology",
        "validated",
        "configs",
        "state",
    ):
        assert getattr(after, name) == getattr(before, name), name
    assert members[0].beat()["error_code"] == "NONE"
    # What it has made of the topology is seen once anything is written after it, here of another group.
    assert s.described() != told
    s.member("C", "other").join(*s.words())
    assert s.described() == told


def test_sessions_begin_anew(s: StreamsStage) -> None:
    cluster = s.brokers.cluster  # type: ignore[attr-defined]
    one = s.member()
    one.run(*s.words())
    cluster.advance(cluster.now_ms + QUIET_MS)
    s.brokers.stop_broker(1)
    s.brokers.start_broker(1)
    s.close()
    s.brokers.until(s.coordinates, "the coordinator")
    cluster.advance(cluster.now_ms + QUIET_MS)
    assert known(s).members
    cluster.advance(cluster.now_ms + QUIET_MS)
    assert not known(s).members


def test_who_gives_up_nothing_is_fenced(s: StreamsStage) -> None:
    """After its rebalance timeout, although it sends heartbeats."""
    cluster = s.brokers.cluster  # type: ignore[attr-defined]
    one, two = s.member(), s.member("B")
    one.run(*s.words(), rebalance_timeout=20_000)
    two.join(*s.words())
    kept = one.owned
    assert one.ask(one.epoch)["active_tasks"] != kept["active_tasks"]
    cluster.advance(cluster.now_ms + 19_000)
    assert one.ask(one.epoch, **kept)["error_code"] == "NONE"
    cluster.advance(cluster.now_ms + 2_000)
    assert one.ask(one.epoch, **kept)["error_code"] == "UNKNOWN_MEMBER_ID"
    assert s.settle([two]) == {two.id: ["active 0: 0, 1, 2", "active 1: 0, 1, 2"]}
