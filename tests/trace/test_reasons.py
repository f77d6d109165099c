"""Why a leader changed is told with the new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from mockbroker import MockCluster
from mockbroker.simulation.history import draw, happen
from mockbroker.simulation.plan import Options
from mockbroker.simulation.tracing import watch
from mockbroker.trace import Event

from ..driving.clients import raw_client
from ..properties import examples

SESSION_MS: Final = 18_000


def elect(cluster: MockCluster, election_type: int) -> None:
    with raw_client(cluster, "admin", broker=3) as client:
        topics = [{"topic": "orders", "partitions": [0]}]
        asked = {"election_type": election_type, "topic_partitions": topics, "timeout": 1000}
        client.call("elect_leaders", 2, asked)


def elect_preferred(cluster: MockCluster) -> None:
    cluster.move_leader("orders", 0, to=2)
    elect(cluster, 0)


def elect_unclean(cluster: MockCluster) -> None:
    """Broker 1 goes when it is alone in the ISR."""
    for broker in (2, 3, 1):
        cluster.stop_broker(broker)
    cluster.start_broker(3)
    elect(cluster, 1)


def reassign(cluster: MockCluster) -> None:
    with raw_client(cluster, "admin") as client:
        topics = [{"name": "orders", "partitions": [{"partition_index": 0, "replicas": [2, 3]}]}]
        client.call("alter_partition_reassignments", 0, {"timeout": 1000, "topics": topics})


def unregister(cluster: MockCluster) -> None:
    with raw_client(cluster, "admin", broker=3) as client:
        client.call("unregister_broker", 0, {"broker_id": 1})


def move(cluster: MockCluster) -> None:
    cluster.move_leader("orders", 0)


def kill(cluster: MockCluster) -> None:
    cluster.kill_broker(1)
    cluster.clock.advance(SESSION_MS)


def cut_off(cluster: MockCluster) -> None:
    cluster.cut_off(1)
    cluster.clock.advance(SESSION_MS)


def come_back(cluster: MockCluster) -> None:
    for broker in (2, 3, 1):
        cluster.stop_broker(broker)
    cluster.start_broker(1)


def fault(cluster: MockCluster) -> None:
    cluster.faults.add("stop-broker", target=1, api="Metadata", client_id="shop", when="after", times=1)
    with raw_client(cluster, "shop", broker=2) as client:
        client.call("metadata", 9, {"topics": []})


CASES: Final[dict[Callable[[MockCluster], None], str]] = {
    lambda cluster: cluster.stop_broker(1): "broker 1 was shut down, by operation brokers stop",
    move: "it was moved, by operation partitions move-leader",
    kill: "broker 1 was killed, by operation brokers kill, and its session timed out",
    cut_off: "broker 1 was cut off from the controller, by operation brokers cut-off, "
    "and its session timed out",
    come_back: "broker 1 is back, by operation brokers start",
    elect_preferred: "preferred election, by client admin",
    elect_unclean: "unclean election, by client admin",
    reassign: "it was reassigned, by client admin",
    unregister: "broker 1 was unregistered, by client admin",
    fault: "broker 1 was shut down, by fault stop-broker api=Metadata client_id=shop times=1",
}


@pytest.mark.parametrize("act", CASES, ids=lambda each: CASES[each].partition(",")[0])
def test_why_the_leader_moved(act: Callable[[MockCluster], None]) -> None:
    with MockCluster(kafka="3.9", topics={"orders": 1}, trace=True) as cluster:
        assert cluster.topic("orders").partitions[0].leader == 1
        [begun] = cluster.trace.events("leader", topic="orders")
        assert begun.row()["reason"] == ""
        act(cluster)
        last = cluster.trace.events("leader", topic="orders")[-1]
        assert last is not begun
        assert last.row()["reason"] == CASES[act]


def test_every_change_in_a_history_has_a_reason() -> None:
    reasons: list[str] = []

    def told(event: Event) -> None:
        row: dict[str, Any] = event.row()
        if row["kind"] == "leader" and row["leader_epoch"]:
            reasons.append(row["reason"])

    for seed in range(examples(20)):
        happen(
            draw(seed, Options(kafka=("2.3", "3.9", "4.4")[seed % 3])), watch=lambda world: watch(world, told)
        )
    assert len(reasons) > 5
    assert "" not in reasons
