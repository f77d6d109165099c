"""Traces and captures of the same clients, and lines that are torn, wrong or of another schema."""

from __future__ import annotations

import gzip
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from hypothesis import given
from hypothesis import strategies as st

from mockbroker import MockCluster
from mockbroker.pipeline.readers import trace

from .reading import of_kind, rows, source

HEAD = '{"schema": "mockbroker-trace", "version": 1}\n'
LEADER = {
    "kind": "leader",
    "number": 1,
    "time_ms": 5,
    "topic": "orders",
    "partition": 0,
    "leader": 1,
    "leader_epoch": 0,
}
QUIET = {"logger": logging.Logger("quiet", logging.CRITICAL)}
LIMIT_S = 30.0


def use(cluster: MockCluster) -> None:
    """A producer, and a consumer that commits, is moved to another leader, and loses its position."""
    own: dict[str, Any] = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": "app", **QUIET}
    producer = Producer({**own, "enable.idempotence": True})
    for _ in range(4):
        producer.produce("orders", b"v")
        producer.flush(LIMIT_S)
    reader = {"group.id": "readers", "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer = Consumer({**own, **reader})
    consumer.assign([TopicPartition("orders", 0, 0)])
    for _ in range(4):
        assert consumer.poll(LIMIT_S) is not None
    consumer.commit(offsets=[TopicPartition("orders", 0, 4)], asynchronous=False)
    cluster.move_leader("orders", 0, to=2)
    producer.produce("orders", b"v")
    producer.flush(LIMIT_S)
    assert consumer.poll(LIMIT_S) is not None
    assert consumer.committed([TopicPartition("orders", 0)], LIMIT_S)[0].offset == 4
    consumer.seek(TopicPartition("orders", 0, 99))
    assert consumer.poll(LIMIT_S) is not None
    consumer.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    into = tmp_path_factory.mktemp("traces")
    config = {"default.replication.factor": "2"}
    with MockCluster(topics={"orders": 1}, brokers=2, trace=True, config=config) as cluster:
        use(cluster)
        cluster.trace.write(into / "trace.jsonl")
        cluster.trace.write(into / "trace.parquet")
    return into


def test_what_clients_did(folder: Path) -> None:
    path = folder / "trace.jsonl"
    assert source(path) == "trace"
    found = rows(path)
    appended = of_kind(found, "append")
    assert [(row["offset"], row["end_offset"], row["sequence"]) for row in appended] == [
        (offset, offset + 1, offset) for offset in range(5)
    ]
    assert {row["broker"] for row in appended} == {1, 2}
    (commit,) = of_kind(found, "commit")
    assert (commit["group"], commit["topic"], commit["partition"], commit["offset"]) == (
        "readers",
        "orders",
        0,
        4,
    )
    (restore,) = of_kind(found, "restore")
    assert (restore["group"], restore["offset"], restore["client"]) == ("readers", 4, "app")
    assert [(row["leader"], row["leader_epoch"]) for row in of_kind(found, "leader")] == [(1, 0), (2, 1)]
    answers = of_kind(found, "epoch-answer")
    assert (0, 4) in [(row["leader_epoch"], row["end_offset"]) for row in answers]
    (reset,) = of_kind(found, "reset")
    assert (reset["from_offset"], reset["offset"], reset["detail"]) == (99, 0, "earliest")
    lost = [row for row in of_kind(found, "refused") if row["error"] == "OFFSET_OUT_OF_RANGE"]
    assert {(row["api"], row["topic"], row["partition"], row["offset"]) for row in lost} == {
        ("Fetch", "orders", 0, 99)
    }
    assert max(row["end_offset"] for row in of_kind(found, "fetched")) == 5
    assert of_kind(found, "high-watermark")[-1]["offset"] == 5


def test_parquet_has_the_same_rows(folder: Path) -> None:
    assert source(folder / "trace.parquet") == "trace"
    assert rows(folder / "trace.parquet") == rows(folder / "trace.jsonl")


def test_compressed_lines_have_the_same_rows(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl.gz"
    path.write_bytes(gzip.compress((folder / "trace.jsonl").read_bytes()))
    assert rows(path) == rows(folder / "trace.jsonl")


def test_other_parquet_is_not_a_trace(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    assert source(tmp_path / "other.parquet") is None


def test_bad_lines_are_told_and_reading_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    whole = json.dumps(LEADER) + "\n"
    new = json.dumps({"kind": "weather", "number": 4, "time_ms": 5}) + "\n"
    path.write_text(HEAD + whole + "not json\n" + "[1]\n" + '{"kind": "leader"}\n' + new + whole + whole[:30])
    found = rows(path, place=True)
    assert [(row["position"], row["kind"]) for row in found] == [
        (2, "leader"),
        (3, "unreadable"),
        (4, "unreadable"),
        (5, "unreadable"),
        (7, "leader"),
        (8, "unreadable"),
    ]
    assert found[2]["detail"] == "TypeError: a row is an object, not list"
    assert found[-1]["detail"].startswith("torn last line: ")
    assert found[1]["text"] == "not json"


@pytest.mark.parametrize("version", ["3", "0", '"1"', "null"])
def test_an_unknown_schema_version(tmp_path: Path, version: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(HEAD.replace("1}", version + "}") + json.dumps(LEADER) + "\n")
    assert source(path) == "trace"
    (row,) = rows(path, place=True)
    assert (row["kind"], row["position"]) == ("unreadable", 1)
    assert row["detail"].startswith("unknown schema version")


def exchange(number: int, request: dict[str, Any], answer: dict[str, Any]) -> list[dict[str, Any]]:
    """The two rows of a Fetch."""
    common = {"time_ms": number, "number": number, "broker": 1, "connection": "c", "client_id": "app"}
    common |= {"api": "Fetch", "version": 16, "correlation_id": number, "names": ["orders-0"]}
    told = {"outcome": "answer", "errors": [], "faults": []}
    return [
        {"kind": "request", **common, "body": request},
        {"kind": "answer", **common, **told, "body": answer},
    ]


def test_a_fetch_session_asks_for_what_it_asked_for_before(tmp_path: Path) -> None:
    topic_id = "884c52a3-a597-46a4-a073-7c550df37709"
    part = {"partition": 0, "current_leader_epoch": 3, "fetch_offset": 7, "last_fetched_epoch": -1}
    first = {"session_epoch": 0, "topics": [{"topic_id": topic_id, "topic": "", "partitions": [part]}]}
    later = {"session_epoch": 1, "topics": [], "forgotten_topics_data": []}
    lost = {"partition_index": 0, "error_code": "OFFSET_OUT_OF_RANGE", "records": None}
    refusal = {"responses": [{"topic_id": topic_id, "topic": "", "partitions": [lost]}]}
    path = tmp_path / "trace.jsonl"
    fetches = [*exchange(1, first, {"responses": []}), *exchange(2, later, refusal)]
    path.write_text(HEAD + "".join(json.dumps(each) + "\n" for each in fetches))
    position, refused = rows(path)
    for row in (position, refused):
        assert (row["topic"], row["partition"], row["offset"], row["current_epoch"]) == ("orders", 0, 7, 3)
    assert (refused["error"], refused["time_ms"]) == ("OFFSET_OUT_OF_RANGE", 2)


ERRORS = (KeyError, TypeError, ValueError, AttributeError)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(
    st.lists(
        st.one_of(st.binary(max_size=40), JSON.map(lambda value: json.dumps(value).encode())), max_size=8
    )
)
def test_any_lines_are_read(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    path = tmp_path_factory.mktemp("any") / "trace.jsonl"
    path.write_bytes(HEAD.encode() + b"\n".join(lines))
    assert {row["kind"] for row in rows(path)} <= {"unreadable"}


@given(
    st.sampled_from(
        ["OffsetCommit", "OffsetFetch", "Produce", "Fetch", "OffsetForLeaderEpoch", "ListOffsets"]
    ),
    JSON,
    JSON,
)
def test_any_bodies_are_read_or_refused(api: str, request: Any, answer: Any) -> None:
    common = {"time_ms": 1, "connection": "c", "correlation_id": 1, "api": api}
    asked = {**common, "kind": "request", "body": request}
    state = trace.Exchanges()
    for row in (asked, {**common, "kind": "answer", "outcome": "answer", "body": answer}):
        try:
            list(state.rows(row))
        except ERRORS:
            continue
