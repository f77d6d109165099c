"""What `view` needs: the state of every replica, told in such a way that any moment can be shown."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, Literal

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from mockbroker import MockCluster
from mockbroker.errors import MockBrokerError
from mockbroker.trace import Appeared, Event, Keyframe, Trace
from mockbroker.trace.events import KINDS

QUIET = {"logger": logging.Logger("quiet", logging.CRITICAL)}
LIMIT_S = 30.0
STATE = {
    "topic": ("topic",),
    "leader": ("topic", "partition"),
    "in-sync-replicas": ("topic", "partition"),
    "log-start": ("topic", "partition"),
    "high-watermark": ("topic", "partition"),
    "follower": ("topic", "partition", "broker"),
    "replica": ("topic", "partition", "broker"),
    "producer": ("topic", "partition", "producer_id"),
    "committed": ("topic", "partition", "group"),
    "broker": ("broker",),
    "image": ("broker",),
    "group": ("group",),
    "member": ("group", "member_id"),
    "share-partition": ("topic", "partition", "group"),
    "share-session": ("broker", "group", "member_id"),
    "transaction": ("transactional_id",),
}
"""Kinds that tell the state, each with the fields that tell of what."""
OF_PARTITIONS = {kind for kind, names in STATE.items() if "partition" in names} - {"committed"}
OF_GROUPS = {"group", "member", "share-partition", "share-session", "transaction"}
GONE: dict[str, Callable[[dict[str, Any]], bool]] = {
    "topic": lambda row: row["partitions"] == 0,
    "producer": lambda row: row["producer_epoch"] == row["last_sequence"] == -1,
    "committed": lambda row: row["offset"] == -1,
    "group": lambda row: row["state"] == "Dead",
    "replica": lambda row: row["log_end_offset"] == -1,
    "image": lambda row: row["missing"] == 0,
    "member": lambda row: row["epoch"] == -1,
    "share-partition": lambda row: row["start_offset"] == row["coordinator"] == -1,
    "share-session": lambda row: row["epoch"] == -1,
}


def folded(events: Iterable[Event]) -> dict[tuple[str, ...], dict[str, Any]]:
    """The state after these events, of which the first is a keyframe."""
    state: dict[tuple[str, ...], dict[str, Any]] = {}

    def take(row: dict[str, Any]) -> None:
        kind = row["kind"]
        if kind not in STATE:
            return
        key = (kind, *(str(row[name]) for name in STATE[kind]))
        state[key] = {name: value for name, value in row.items() if name not in ("number", "time_ms")}
        if kind in GONE and GONE[kind](row):
            del state[key]
        if kind == "leader":
            state.pop(("follower", row["topic"], str(row["partition"]), str(row["leader"])), None)
        if kind == "topic":
            for other in [each for each in state if len(each) > 2 and each[1] == row["topic"]]:
                if other[0] in OF_PARTITIONS and row["partitions"] <= int(other[2]):
                    del state[other]

    for event in events:
        if isinstance(event, Keyframe | Appeared):
            for row in event.rows:
                take(row)
        else:
            take(event.row())
    return state


def everything(cluster: MockCluster) -> list[Event]:
    return cluster.run_with_trace(Trace.whole)


def keyframe(cluster: MockCluster) -> Keyframe:
    """One of the present moment."""

    def made(trace: Trace) -> Keyframe:
        trace.changed()
        trace._started._keyframe_at = 0
        trace.changed()
        return next(each for each in reversed(trace.events) if isinstance(each, Keyframe))

    return cluster.run_with_trace(made)


@pytest.mark.parametrize("kafka", ["2.3", "4.4"])
@pytest.mark.parametrize("seed", range(5))
def test_what_happened_leads_from_one_keyframe_to_the_next(kafka: Literal["2.3", "4.4"], seed: int) -> None:
    with MockCluster(kafka=kafka, topics={"orders": 2}, trace=True, seed=seed) as cluster:
        assert isinstance(everything(cluster)[0], Keyframe)
        transacted(cluster)
        played(cluster, Random(seed))
        last = keyframe(cluster)
        events = [each for each in everything(cluster) if each.number < last.number]
    assert folded(events) == folded([last])
    assert {row["kind"] for row in last.rows} >= set(STATE) - OF_GROUPS - {"image"}


def test_many_partitions_are_looked_at_in_turn() -> None:
    """What followers have changed is told without another request, and a topic may go meanwhile."""
    partitions = 250
    with MockCluster(topics={"orders": partitions, "others": 120}, trace=True) as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "acks": 1, **QUIET})
        for index in range(partitions):
            producer.produce("orders", b"v", partition=index)
        assert producer.flush(LIMIT_S) == 0
        for index in range(partitions):
            cluster.trace.wait("high-watermark", topic="orders", partition=index, high_watermark=1)
        cluster.delete_topic("others")
        last = keyframe(cluster)
        events = [each for each in everything(cluster) if each.number < last.number]
    assert folded(events) == folded([last])
    assert not any(row.get("topic") == "others" for row in last.rows)


def transacted(cluster: MockCluster) -> None:
    """A record and a committed offset in a transaction."""
    own = {"bootstrap.servers": cluster.bootstrap_servers, **QUIET}
    producer = Producer({**own, "transactional.id": "mover"})
    with contextlib.closing(Consumer({**own, "group.id": "movers"})) as consumer:
        producer.init_transactions(LIMIT_S)
        producer.begin_transaction()
        producer.produce("orders", b"v", partition=0)
        metadata = consumer.consumer_group_metadata()
        producer.send_offsets_to_transaction([TopicPartition("orders", 1, 0)], metadata, LIMIT_S)
        producer.commit_transaction(LIMIT_S)
        consumer.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)


def played(cluster: MockCluster, random: Random) -> None:
    """Some of everything that changes the state."""

    def broker() -> int:
        return random.randint(1, 3)

    doings: list[Callable[[], object]] = [
        lambda: cluster.create_topic(random.choice("abc"), partitions=random.randint(1, 3)),
        lambda: cluster.delete_topic(random.choice("abc")),
        lambda: cluster.move_leader("orders", random.randrange(2)),
        lambda: cluster.kill_broker(broker()),
        lambda: cluster.cut_off(broker()),
        lambda: cluster.rejoin(broker()),
        *[lambda: cluster.start_broker(broker())] * 2,
        lambda: cluster.pause_follower("orders", 0, broker()),
        lambda: cluster.resume_follower("orders", 0, broker()),
        lambda: cluster.expire_producer("orders", 0),
        lambda: cluster.delete_records("orders", 0, 1, timeout=0.1),
        *[lambda: cluster.produce("orders", b"v", partition=random.randrange(2), acks=1)] * 5,
    ]
    for _ in range(150):
        # Not everything is possible at every time.
        with contextlib.suppress(MockBrokerError):
            random.choice(doings)()


def test_every_kind_that_tells_the_state_exists() -> None:
    assert set(STATE) <= set(KINDS)
