"""What is told of a cluster while real clients use it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from mockbroker import MockCluster, unchecked
from mockbroker.names import EventKind
from mockbroker.trace.event import Event
from mockbroker.trace.events import DETAILS, KINDS
from mockbroker.trace.files import COLUMNS, TraceError, read_json_lines

from ..driving.real_clients import a_consumer, a_producer

QUIET = {"logger": logging.Logger("quiet", logging.CRITICAL)}
LIMIT_S = 30.0


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    config = {"default.replication.factor": "3"}
    with MockCluster(topics={"orders": 1}, trace=True, config=config) as running:
        yield running


def produce(cluster: MockCluster, count: int = 1, transactional: bool = False, **config: Any) -> None:
    if transactional:
        config["transactional.id"] = "mover"
    producer = a_producer(cluster, **{"client.id": "app", **config})
    if transactional:
        producer.init_transactions(LIMIT_S)
        producer.begin_transaction()
    for _ in range(count):
        producer.produce("orders", b"v")
        producer.flush(LIMIT_S)
    if transactional:
        producer.commit_transaction(LIMIT_S)


def told(events: list[Event]) -> list[str]:
    return [event.text() for event in events]


def test_requests_answers_and_what_went_wrong(cluster: MockCluster) -> None:
    cluster.faults.add("error", error="NOT_LEADER_OR_FOLLOWER", api="Produce", times=1)
    produce(cluster)
    answers = cluster.trace.events("answer", api="Produce", topic="orders")
    assert [answer.row()["errors"] for answer in answers] == [("NOT_LEADER_OR_FOLLOWER",), ()]
    assert [bool(answer.row()["faults"]) for answer in answers] == [True, False]
    first, *_ = cluster.trace.events("request", api="Produce")
    row = first.row()
    assert (row["broker"], row["client_id"], row["names"]) == (1, "app", ("orders-0",))
    (data,) = row["body"]["topic_data"][0]["partition_data"]
    assert [each["records"] for each in data["records"]] == [1]


def test_the_log_and_its_replicas(cluster: MockCluster) -> None:
    produce(cluster, 2)
    cluster.pause_follower("orders", 0, 3)
    cluster.move_leader("orders", 0, to=2)
    cluster.stop_broker(1)
    names: list[EventKind] = ["leader", "in-sync-replicas", "high-watermark", "follower", "broker"]
    events = [event for name in names for event in cluster.trace.events(name) if "__" not in str(event)]
    assert told(events) == [
        "orders-0: leader 1, leader epoch 0",
        "orders-0: leader 2, leader epoch 1 (it was moved, by operation partitions move-leader)",
        "orders-0: in sync replicas (2, 3)",
        "orders-0: high watermark 1, last stable offset 1, log end offset 1",
        "orders-0: high watermark 2, last stable offset 2, log end offset 2",
        "orders-0: high watermark 1, last stable offset 1, log end offset 2",
        "orders-0: broker 3, state paused",
        "orders-0: broker 1, state in step",
        "orders-0: broker 1, state offline",
        "broker 1 is stopped, fenced",
    ]


def test_a_truncation(cluster: MockCluster) -> None:
    cluster.policies.set("election", "unclean", topic="orders")
    for follower in (2, 3):
        cluster.pause_follower("orders", 0, follower)
    produce(cluster, 1, acks=1)
    cluster.kill_broker(1)
    cluster.run(lambda core: core.advance(core.now_ms + 60_000))
    cluster.start_broker(1)
    cluster.trace.wait("truncation", topic="orders", broker=1, from_offset=1, to_offset=0)
    assert told(cluster.trace.events("policy")) == ["name=election answer=unclean topic=orders broker=None"]


def test_groups_and_transactions(cluster: MockCluster) -> None:
    produce(cluster, transactional=True)
    states = [event.row()["state"] for event in cluster.trace.events("transaction", transactional_id="mover")]
    assert states == ["Empty", "Ongoing", "CompleteCommit"]
    consumer = a_consumer(cluster, "billing")
    consumer.subscribe(["orders"])
    consumer.poll(0.1)
    stable = cluster.trace.wait("group", group="billing", state="Stable").row()
    assert (stable["generation"], stable["members"]) == (1, 1)
    consumer.close()
    cluster.trace.wait("group", group="billing", state="Empty", members=0)


def test_waiting_in_vain_tells_what_came(cluster: MockCluster) -> None:
    produce(cluster)
    with pytest.raises(TimeoutError, match=r"(?s)leader topic='nothing': 0 of 1 happened.*Produce ok"):
        cluster.trace.wait("leader", topic="nothing", timeout=0.01)


@pytest.mark.parametrize(
    ("kind", "wanted", "message"),
    [
        ("leeder", {}, "did you mean 'leader'"),
        ("leader", {"leeder_epoch": 1}, "did you mean 'leader_epoch'"),
        (None, {"topics": "t"}, "did you mean 'topic'"),
    ],
)
def test_a_misspelt_question(
    cluster: MockCluster, kind: str | None, wanted: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        cluster.trace.events(unchecked(kind), **wanted)
    with pytest.raises(ValueError, match=message):
        cluster.trace.wait(unchecked(kind), **wanted)


def test_nothing_is_kept_before_it_is_asked_for() -> None:
    with MockCluster(topics={"orders": 1}) as cluster:
        produce(cluster)
        assert cluster.trace.events("request", api="Produce") == []
        produce(cluster)
        assert len(cluster.trace.events("request", api="Produce")) == 1


def test_a_listener_hears_until_it_is_taken_away(cluster: MockCluster) -> None:
    heard: list[Event] = []
    end = cluster.trace.listen(heard.append)
    produce(cluster)
    end()
    known = len(heard)
    produce(cluster)
    assert len(heard) == known > 0
    assert "Produce ok" in str(cluster.trace)


def test_json_lines_come_back_as_they_were(cluster: MockCluster, tmp_path: Path) -> None:
    produce(cluster, transactional=True)
    path = tmp_path / "trace.jsonl"
    cluster.trace.write(path)
    written = list(read_json_lines(path))
    assert [str(each) for each in written if each.kind not in DETAILS] == str(cluster.trace).splitlines()
    assert {each.kind for each in written} > DETAILS - {"image", "member", "share-session"}
    assert json.loads(path.read_text().splitlines()[0]) == {"schema": "mockbroker-trace", "version": 2}


def test_parquet_has_the_same_rows(cluster: MockCluster, tmp_path: Path) -> None:
    produce(cluster)
    path = tmp_path / "trace.parquet"
    cluster.trace.write(path)
    table = pq.read_table(path)
    assert table.column_names == list(COLUMNS)
    told = [row for row in table.to_pylist() if row["kind"] not in DETAILS]
    assert [row["number"] for row in told] == [event.number for event in cluster.trace.events()]
    answers = [row for row in table.to_pylist() if row["kind"] == "answer" and row["api"] == "Produce"]
    assert [(row["names"], row["errors"], row["outcome"]) for row in answers] == [
        (["orders-0"], [], "answer")
    ]
    assert table.schema.metadata[b"schema"] == b"mockbroker-trace"


def test_every_field_has_a_column() -> None:
    named = {name for kind in KINDS.values() for name in kind.__dataclass_fields__}
    assert named | {"kind"} == set(COLUMNS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: not a trace"),
        ("{}\n", ":1: not a trace"),
        ('{"schema": "mockbroker-trace", "version": 99}\n', ":1: schema version 99"),
        ('{"schema": "mockbroker-trace", "version": 1}\n{"kind": "lea', ":2:"),
        ('{"schema": "mockbroker-trace", "version": 1}\n{"kind": "leader", "number": 1}\n', ":2:"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(text)
    with pytest.raises(TraceError, match=message):
        list(read_json_lines(path))
