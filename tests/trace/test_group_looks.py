"""What is told of the members of groups, and of what share groups have in flight."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from confluent_kafka import ShareConsumer

from mockbroker import MockCluster
from mockbroker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from mockbroker.trace.group_events import MOST_RANGES
from mockbroker.trace.looks import Change
from mockbroker.trace.states import States
from mockbroker.verbs.sharing import drop_share_sessions

from ..driving.cluster import ask, configured
from ..driving.groups import GroupDriver
from ..driving.share_reader import CONFIG, MEMBER, QUICK, Reader
from .test_details import folded

ACCEPT, RELEASE, REJECT = 1, 2, 3
SHARED = {"member", "share-partition", "share-session"}


def events(changes: Iterable[Change]) -> list[Any]:
    return [change.kind(0, 0, *change.values) for change in changes]


class Watched(Reader):
    """A reader, and what a trace with details tells of its cluster."""

    def __init__(self) -> None:
        super().__init__(configured("4.4", 3, None, CONFIG))
        self.states = States(self.cluster, details=True)
        self.told = events(self.states.snapshot().changes())

    def news(self) -> list[Any]:
        found = events(self.states.changes())
        self.told += found
        return found

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [each.row() for each in self.news() if each.kind == kind]

    def in_flight(self) -> list[Any]:
        [row] = self.of("share-partition")
        return [row["start_offset"], *(each[:4] for each in row["in_flight"])]


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_a_member_and_its_partitions(watched: Watched) -> None:
    [member] = [each.row() for each in watched.told if each.kind == "member"]
    told = {name: member[name] for name in ("group", "member_id", "type", "subscribed", "assigned")}
    assert told == {
        "group": "g",
        "member_id": MEMBER,
        "type": "share",
        "subscribed": ("t",),
        "assigned": ("t-0",),
    }
    assert watched.of("member") == []
    watched.leave()
    [gone] = watched.of("member")
    assert (gone["member_id"], gone["epoch"], gone["assigned"]) == (MEMBER, -1, ())


def test_what_becomes_of_records(watched: Watched) -> None:
    watched.write(10)
    watched.fetch(0)
    [acquired] = watched.of("share-partition")
    [(first, last, state, deliveries, member, until_ms)] = acquired["in_flight"]
    assert (first, last, state, deliveries, member) == (0, 9, "acquired", 1, MEMBER)
    assert until_ms is not None
    assert 29_000 < until_ms - watched.cluster.now_ms <= 30_000
    watched.acknowledge(0, 1, ACCEPT)
    assert watched.in_flight() == [2, (2, 9, "acquired", 1)]
    watched.acknowledge(5, 5, RELEASE)
    watched.acknowledge(9, 9, REJECT)
    told = [(2, 4, "acquired", 1), (5, 5, "available", 1), (6, 8, "acquired", 1), (9, 9, "archived", 1)]
    assert watched.in_flight() == [2, *told]
    watched.acknowledge(2, 4, ACCEPT)
    assert watched.in_flight() == [5, *told[1:]]


def test_an_event_in_words(watched: Watched) -> None:
    watched.write(3)
    watched.fetch(0)
    watched.acknowledge(1, 1, RELEASE)
    [event] = [each for each in watched.news() if each.kind == "share-partition"]
    assert event.text() == (
        f"share group g of t-0 from 0, 0 acquired by {MEMBER}, 1 available, 2 acquired by {MEMBER}"
    )
    watched.fetch()
    [event] = [each for each in watched.news() if each.kind == "share-partition"]
    assert f"1 acquired by {MEMBER} (delivered 2 times)" in event.text()


def test_only_the_first_ranges_are_told(watched: Watched) -> None:
    count = 2 * MOST_RANGES + 10
    watched.write(count)
    watched.fetch(0)
    for offset in range(1, count, 2):
        watched.acknowledge(offset, offset, RELEASE)
    told = watched.of("share-partition")[-1]["in_flight"]
    assert len(told) == MOST_RANGES
    assert told[-1][1] == MOST_RANGES - 1


def test_sessions(watched: Watched) -> None:
    watched.write(1)
    watched.fetch(0)
    broker = watched.leader("t")
    [began] = watched.of("share-session")
    told = [began[name] for name in ("broker", "group", "member_id", "epoch", "names")]
    assert told == [broker, "g", MEMBER, 1, ("t-0",)]
    drop_share_sessions(watched.cluster, watched.cluster.brokers[broker])
    watched.cluster.advance(watched.cluster.now_ms + 2)
    [ended] = watched.of("share-session")
    assert (ended["member_id"], ended["epoch"], ended["names"]) == (MEMBER, -1, ())


def test_a_new_leader_forgets_locks_and_nothing_else(watched: Watched) -> None:
    watched.write(4)
    watched.fetch(0)
    watched.acknowledge(0, 0, ACCEPT)
    watched.acknowledge(2, 2, RELEASE)
    watched.news()
    watched.cluster.processes.stop(watched.leader("t"))
    watched.cluster.advance(watched.cluster.now_ms + 40_000)
    watched.news()
    [last] = [each.row() for each in watched.told if each.kind == "share-partition"][-1:]
    assert last["start_offset"] == 1
    assert [each[:3] for each in last["in_flight"]] == [(1, 3, "available")]


def test_the_coordinator_that_is_told_leads(watched: Watched) -> None:
    watched.write(1)
    watched.fetch(0)
    [row] = watched.of("share-partition")
    assert row["coordinator"] == watched.leader("__share_group_state")


def test_all_that_is_told_leads_to_what_there_is(watched: Watched) -> None:
    watched.write(4)
    watched.fetch(0)
    watched.acknowledge(0, 0, ACCEPT)
    watched.news()
    watched.leave()
    watched.news()
    whole = folded(events(watched.states.snapshot().changes()))
    assert folded(watched.told) == whole
    assert {each[0] for each in whole} >= SHARED - {"member"}


def test_a_deleted_topic_is_no_share_partition_any_more(watched: Watched) -> None:
    watched.write(1)
    watched.fetch(0)
    watched.news()
    ask(watched.cluster, DeleteTopicsRequest([DeleteTopicState("t")], 1_000))
    [gone] = watched.of("share-partition")
    assert (gone["topic"], gone["start_offset"], gone["coordinator"]) == ("t", -1, -1)


def test_members_of_a_classic_group() -> None:
    bench = GroupDriver()
    states = States(bench.cluster, details=True)
    bench.stable(None)
    told = [each.row() for each in events(states.changes()) if each.kind == "member"]
    assert [(each["group"], each["type"], each["epoch"]) for each in told] == [("g", "classic", 1)]


def test_without_details_only_share_partitions_are_told() -> None:
    reader = Reader(configured("4.4", 3, None, CONFIG))
    states = States(reader.cluster, details=False)
    reader.write(1)
    reader.fetch(0)
    assert {each.kind for each in events(states.changes())} & SHARED == {"share-partition"}


def test_a_test_waits_for_what_becomes_of_records() -> None:
    with MockCluster(brokers=1, config=QUICK, topics={"jobs": 1}, trace="requests") as cluster:
        cluster.configure_group("workers", {"share.auto.offset.reset": "earliest"})
        cluster.produce("jobs", b"v")
        own = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "workers"}
        member = ShareConsumer({**own, "share.acknowledgement.mode": "explicit"})
        member.subscribe(["jobs"])
        while not (messages := list(member.poll(1))):
            pass
        member.acknowledge(messages[0])
        member.commit_sync(10)
        cluster.trace.wait("share-partition", group="workers", start_offset=1)
        assert "0 acquired by" in str(cluster.trace)
        member.close()
