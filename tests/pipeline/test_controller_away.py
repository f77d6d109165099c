"""Elections that wait for a controller, and what followers and brokers log of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mockbroker.pipeline.observations import Observation
from mockbroker.pipeline.signatures import controller_away

from .readers.reading import of_kind, rows
from .rows import SECOND, History, found_in

BROKERS: dict[str, Any] = {"source": "broker-log", "broker": 1}
FETCH = (
    "[2026-11-26 06:08:37,386] WARN [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Error in response "
    "for fetch request (type=FetchRequest, replicaId=1, maxWait=500, minBytes=1, fetchData={{{}}}, "
    "isolationLevel=read_uncommitted, removed=, replaced=, metadata=(sessionId=2, epoch=INITIAL), rackId=) "
    "(kafka.server.ReplicaFetcherThread)\n"
    "java.io.IOException: Connection to 2 was disconnected before the response was read\n"
)
NEW = "{}=PartitionData(topicId=hKup0Kh0RLiz6Ywk89bKAQ, fetchOffset=100, currentLeaderEpoch=Optional[0])"
OLD = "{}=(fetchOffset=100, logStartOffset=0, maxBytes=1048576)"
HEARTBEAT = (
    "[2026-11-26 06:08:36,833] INFO [BrokerLifecycleManager id=1] Unable to send a heartbeat because the RPC "
    "got timed out before it could be sent. (kafka.server.BrokerLifecycleManager)\n"
)


def outage(seconds: int = 60, *, controller: bool = True) -> History:
    """A leader that does not answer, and a controller that can't be reached, for so long."""
    history = History("broker-log")
    for _ in range(seconds):
        if controller:
            history.add("controller", 0, topic=None, partition=None, **BROKERS)
        history.add("unanswered", leader=2, **BROKERS)
    history.add("leader", leader=1, leader_epoch=1, offset=100, **BROKERS)
    return history


def test_an_election_that_waited() -> None:
    (one,) = found_in(outage().rows, controller_away.find)
    assert (one.signature, one.confidence, one.broker) == ("controller-away", "likely", 2)
    assert "orders-0 had no leader for 60 s: broker 2 did not answer" in one.summary
    assert "could not be reached from broker 1" in one.summary
    assert len(one.evidence) == 4


@pytest.mark.parametrize(
    "history",
    [
        outage(20),
        outage(controller=False),
        History("broker-log")
        .add("unanswered", leader=2, **BROKERS)
        .add("leader", 60 * SECOND, leader=1, leader_epoch=1, **BROKERS),
    ],
    ids=["soon", "with a controller", "long before"],
)
def test_an_election_that_did_not(history: History) -> None:
    assert found_in(history.rows, controller_away.find) == []


def test_the_next_row_of_a_leader_that_names_another_one_counts() -> None:
    """As if each row of a follower were compared with each row of a leader."""
    random, rows, expected = Random(7), list[Observation](), set[tuple[int, int, int, int]]()
    for partition in range(40):
        history = History("broker-log", partition=partition)
        for _ in range(60):
            history.add("controller", 0, topic=None, partition=None, **BROKERS)
            kind = random.choice(["unanswered", "unanswered", "leader"])
            history.add(kind, random.choice([0, 9, 20]) * SECOND, leader=random.randrange(1, 4), **BROKERS)
        rows += history.rows
        expected |= {(partition, *each) for each in elections(history.rows)}
    found = set()
    for each in found_in(rows, controller_away.find):
        (seconds,) = re.findall(r"for (\d+) s", each.summary)
        end_ms = each.evidence[-1].time_ms
        found.add((each.partition, each.broker, end_ms - int(seconds) * SECOND, end_ms))
    assert len(expected) > 40
    assert found == expected


def elections(rows: list[Observation]) -> Iterator[tuple[int, int, int]]:
    """Of one partition: the leader that did not answer, since when, and when another one was elected."""
    told = [(each.kind, each.leader or 0, each.time_ms or 0) for each in rows if each.leader is not None]
    silent: dict[tuple[int, int], list[int]] = {}
    for kind, leader, time_ms in told:
        later = [ms for by, other, ms in told if by == "leader" and other != leader and ms >= time_ms]
        if kind == "unanswered" and later:
            silent.setdefault((leader, min(later)), []).append(time_ms)
    for (leader, end_ms), times in silent.items():
        if end_ms - min(times) >= 30 * SECOND >= end_ms - max(times):
            yield leader, min(times), end_ms


@pytest.mark.parametrize("form", [NEW, OLD], ids=["since 2.0", "before"])
def test_followers_name_their_partitions(form: str, tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    named = [form.format(name) for name in ("__consumer_offsets-0", "a.b-c_1-12")]
    path.write_text(FETCH.format(", ".join(named)) + HEARTBEAT + FETCH.format(""))
    found = of_kind(rows(path), "unanswered")
    of_leader = {"broker": 1, "leader": 2}
    assert found[0].items() >= {"topic": "__consumer_offsets", "partition": 0, **of_leader}.items()
    assert found[1].items() >= {"topic": "a.b-c_1", "partition": 12, **of_leader}.items()
    assert found[0]["detail"] == "IOException: Connection to 2 was disconnected before the response was read"
    (heartbeat,) = of_kind(rows(path), "controller")
    assert heartbeat.items() >= {"broker": 1, "detail": "Unable to send a heartbeat"}.items()
