"""Elections that wait for a controller, and what followers and brokers log of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
