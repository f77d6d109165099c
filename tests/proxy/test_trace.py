"""The trace of a proxy; a mock is the cluster behind it."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster, MockProxy
from mockbroker.rig.batches import batch
from mockbroker.rig.client import DisconnectedError
from mockbroker.trace.files import read_json_lines

from ..driving.clients import raw_client
from ..driving.processes import line_of, started


@pytest.fixture(scope="module")
def upstream() -> Iterator[str]:
    with MockCluster(brokers=1, topics={"orders": 1}) as cluster:
        yield cluster.bootstrap_servers


def produced(acks: int = -1, sequence: int = -1) -> dict[str, Any]:
    known = sequence >= 0
    records = batch(1, producer_id=5 if known else -1, producer_epoch=0 if known else -1, sequence=sequence)
    partition = {"index": 0, "records": records}
    return {
        "transactional_id": None,
        "acks": acks,
        "timeout": 10_000,
        "topic_data": [{"name": "orders", "partition_data": [partition]}],
    }


def test_it_has_requests_and_answers_as_clients_have_them(upstream: str) -> None:
    with MockProxy(upstream, trace=True) as proxy, raw_client(proxy, "asker") as client:
        client.call("metadata", 12, {"topics": [{"topic_id": None, "name": "orders"}]})
        asked, answered = proxy.trace.events("request")[0].row(), proxy.trace.events("answer")[0].row()
        assert (asked["api"], asked["version"], asked["client_id"]) == ("Metadata", 12, "asker")
        assert (asked["broker"], asked["names"]) == (1, ("orders",))
        assert answered["correlation_id"] == asked["correlation_id"]
        (broker,) = answered["body"]["brokers"]
        assert f"{broker['host']}:{broker['port']}" == proxy.bootstrap_servers
        (first,) = proxy.trace.events("keyframe")
        assert [(each["kind"], each["broker"]) for each in first.row()["rows"]] == [("broker", 1)]


def test_it_has_the_faults_that_hit(upstream: str) -> None:
    with MockProxy(upstream) as proxy, raw_client(proxy) as client:
        trace = proxy.trace
        proxy.add_fault("error", api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1)
        for _ in range(2):
            client.call("produce", 12, produced())
        first, second = [each.row() for each in trace.events("answer", api="Produce")]
        assert first["faults"] == ("error instead api=Produce times=1",)
        assert (first["errors"], second["errors"]) == (("NOT_LEADER_OR_FOLLOWER",), ())
        assert not second["faults"]


def test_it_has_connections_that_end_without_an_answer(upstream: str) -> None:
    with MockProxy(upstream, trace=True) as proxy:
        proxy.add_fault("disconnect", api="Produce", when="after", times=1)
        with raw_client(proxy) as client, pytest.raises(DisconnectedError):
            client.call("produce", 12, produced())
        (answer,) = proxy.trace.events("answer", api="Produce")
        assert (answer.row()["outcome"], len(answer.row()["faults"])) == ("closed", 1)


def test_a_produce_without_an_answer_has_none(upstream: str) -> None:
    with MockProxy(upstream, trace=True) as proxy, raw_client(proxy) as client:
        client.send("produce", 12, produced(acks=0))
        assert proxy.trace.wait("answer", api="Produce").row()["outcome"] == "none"


def test_it_has_what_behaviours_decided_for_which_request(upstream: str) -> None:
    with (
        MockProxy(upstream, trace=True, policies={"unknown-producer": "unknown-producer-id"}) as proxy,
        raw_client(proxy) as client,
    ):
        client.call("produce", 12, produced(sequence=3))
        (request,) = proxy.trace.events("request")
        (decision,) = [each.row() for each in proxy.trace.events("decision")]
        assert (decision["name"], decision["answer"]) == ("unknown-producer", "unknown-producer-id")
        assert (decision["request"], decision["topic"]) == (request.number, "orders")
        client.call("produce", 12, produced())
        assert len(proxy.trace.events("decision")) == 1


def test_what_no_broker_answers_is_in_it(upstream: str) -> None:
    with MockProxy(upstream, kafka="2.4", trace=True) as proxy:
        with raw_client(proxy) as client, pytest.raises(DisconnectedError):
            client.call("metadata", 12, {"topics": []})
        malformed = proxy.trace.wait("malformed").row()
        assert malformed["reason"] == "api key 3 v12 is not served by Kafka 2.4"


def test_real_clients_are_served_as_without_a_trace(upstream: str) -> None:
    with MockProxy(upstream, trace=True) as proxy:
        producer = Producer({"bootstrap.servers": proxy.bootstrap_servers, "enable.idempotence": True})
        producer.produce("orders", "order 1")
        assert producer.flush(60) == 0
        assert {"ApiVersions", "Metadata", "InitProducerId", "Produce"} <= {
            each.row()["api"] for each in proxy.trace.events("answer")
        }
        assert not proxy.lines


def test_the_command_writes_it(upstream: str, tmp_path: Path) -> None:
    file = tmp_path / "trace.jsonl"
    process = started("proxy", "--upstream", upstream, "--port", "0", "--trace", str(file))
    try:
        producer = Producer({"bootstrap.servers": line_of(process)})
        producer.produce("orders", "order")
        assert producer.flush(60) == 0
    finally:
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    events = [each.row() for each in read_json_lines(file)]
    assert events[0]["kind"] == "keyframe"
    assert any(each["kind"] == "answer" and each["api"] == "Produce" for each in events)
    assert all(each["time_ms"] > 1_000_000_000_000 for each in events)
