"""What is told in Python is told over HTTP, by `mockbroker ctl` and in scenarios."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from typer.testing import CliRunner

from mockbroker import MockCluster
from mockbroker.cli.ctl import app
from mockbroker.scenario.playing import fits

from ..control.asking import ask
from ..driving.real_clients import a_producer

Asking = Callable[..., Any]


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(control=True, brokers=3) as running:
        yield running


@pytest.fixture
def asking(cluster: MockCluster) -> Asking:
    return lambda method, path, *rest: ask(method, cluster.control_url + path, *rest)


def test_topics(cluster: MockCluster, asking: Asking) -> None:
    wanted = {"topic": "orders", "partitions": 2, "replication_factor": 3, "config": {"retention.ms": "7"}}
    status, made = asking("POST", "/topics", wanted)
    told = cluster.topic("orders")
    assert (status, made["topic_id"], made["configs"]) == (200, told.topic_id, {"retention.ms": "7"})
    assert asking("GET", "/topics/orders") == (200, made)
    assert [each["leader"] for each in made["partitions"]] == [each.leader for each in told.partitions]
    assert [each["replicas"] for each in made["partitions"]] == [
        list(each.replicas) for each in told.partitions
    ]
    assert asking("GET", "/topics")[1] == [
        {
            "name": "orders",
            "topic_id": told.topic_id,
            "internal": False,
            "partitions": 2,
            "replication_factor": 3,
        }
    ]
    assert asking("POST", "/topics", wanted) == (
        409,
        {"error": "TOPIC_ALREADY_EXISTS: topic 'orders' was not created: Topic 'orders' already exists."},
    )
    assert asking("DELETE", "/topics/orders")[1]["name"] == "orders"
    assert asking("DELETE", "/topics/orders")[0] == 404
    assert cluster.topics() == {}


def test_records(cluster: MockCluster, asking: Asking) -> None:
    cluster.create_topic("orders")
    status, first = asking("POST", "/topics/orders/records", {"value": "Ω", "headers": {"h": "1"}})
    assert (status, first["offset"]) == (200, 0)
    second = {"value": "/w==", "key": "AA==", "encoding": "base64", "timestamp_ms": 1_600_000_000_000}
    assert asking("POST", "/topics/orders/records", second)[1]["timestamp_ms"] == 1_600_000_000_000
    asking("POST", "/topics/orders/records", {})
    assert [each.value for each in cluster.records("orders")] == ["Ω".encode(), b"\xff", None]
    told = asking("GET", "/topics/orders/records")[1]
    assert told[0] == first
    assert [(each["value"], each["value_encoding"]) for each in told] == [
        ("Ω", "utf-8"),
        ("/w==", "base64"),
        (None, "utf-8"),
    ]
    assert (told[1]["key"], told[1]["key_encoding"]) == ("\0", "utf-8")
    assert told[0]["headers"] == [{"key": "h", "value": "1", "encoding": "utf-8"}]
    assert asking("GET", "/topics/orders/records?offset=1&limit=1&partition=0") == (200, [told[1]])
    assert asking("GET", "/topics/orders/records?isolation_level=read_committed")[1] == told
    status, wrong = asking("POST", "/topics/orders/records", {"value": "=", "encoding": "base64"})
    assert (status, wrong["error"][:22]) == (400, "value is '=': give bas")
    assert (
        asking("POST", "/topics/orders/partitions/0/delete-records", {"before": 2})[1]["low_watermark"] == 2
    )
    assert asking("GET", "/topics/orders/records")[1] == told[2:]


@pytest.mark.parametrize("group", ["billing", "a/b", "50% Ω"])
def test_groups(cluster: MockCluster, asking: Asking, group: str) -> None:
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group})
    cluster.create_topic("orders", partitions=2)
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.poll(0.05)
    consumer.commit(offsets=[TopicPartition("orders", 1, 7)], asynchronous=False)
    try:
        path = f"/groups/{quote(group, safe='')}"
        status, told = asking("GET", path)
        [member] = told["members"]
        assert (status, told["state"], told["generation"]) == (200, "Stable", 1)
        assert fits([{"topic": "orders", "partition": 1}, {"partition": 0}], member["assignment"])
        assert asking("GET", "/groups")[1] == [
            {
                "group_id": group,
                "type": "classic",
                "state": "Stable",
                "coordinator": cluster.group(group).coordinator,
                "protocol_type": "consumer",
                "protocol": "range",
                "members": 1,
            }
        ]
        [committed] = asking("GET", f"{path}/committed")[1]
        assert (committed["topic"], committed["partition"], committed["offset"]) == ("orders", 1, 7)
    finally:
        consumer.close()


def test_more_records_than_are_listed_are_refused_unless_somebody_says_how_many(
    cluster: MockCluster, asking: Asking
) -> None:
    cluster.create_topic("orders", partitions=1)
    producer = a_producer(cluster)
    for _ in range(1001):
        producer.produce("orders", "x")
    assert producer.flush(60) == 0
    path = "/topics/orders/records"
    status, told = asking("GET", path)
    assert (status, told["error"][:46]) == (400, "there are more than 1000 records: give a limit")
    assert [each["offset"] for each in asking("GET", f"{path}?offset=1")[1]] == list(range(1, 1001))
    assert len(asking("GET", f"{path}?limit=1001")[1]) == 1001
    assert len(asking("GET", f"{path}?limit=3")[1]) == 3
    assert len(asking("GET", f"{path}?limit={10**20}")[1]) == 1001


@pytest.mark.parametrize("group", ["billing/committed", "committed", "a/b", "50%/2F", "%2F", "ü?#"])
def test_a_group_is_told_from_what_another_one_committed(
    cluster: MockCluster, asking: Asking, group: str
) -> None:
    """Also where the id of a group ends as the path of another one's offsets does."""
    cluster.create_topic("orders", partitions=1)
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": group})
    consumer.commit(offsets=[TopicPartition("orders", 0, 7)], asynchronous=False)
    consumer.close()
    path = f"/groups/{quote(group, safe='')}"
    status, shown = asking("GET", path)
    assert (status, shown["group_id"]) == (200, group)
    [offset] = asking("GET", f"{path}/committed")[1]
    assert offset["offset"] == 7
    status, told = asking("GET", "/groups/billing/committed")
    assert (status, told["error"][:18]) == (404, "no group 'billing'")


def test_transactions(cluster: MockCluster, asking: Asking) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "t/x"})
    producer.init_transactions(60)
    producer.begin_transaction()
    producer.produce("orders", "a")
    assert producer.flush(60) == 0
    [listed] = asking("GET", "/transactions")[1]
    assert (listed["transactional_id"], listed["state"]) == ("t/x", "Ongoing")
    told = asking("GET", "/transactions/t%2Fx")[1]
    assert told["partitions"] == [{"topic": "orders", "partition": 0}]
    [record] = asking("GET", "/topics/orders/records")[1]
    assert (record["transaction"], record["transactional_id"]) == ("ongoing", "t/x")
    producer.abort_transaction(60)
    assert [each["control"] for each in asking("GET", "/topics/orders/records?control=true")[1]] == [
        None,
        "abort",
    ]
    assert asking("GET", "/transactions/tx")[0] == 404


def test_ctl(cluster: MockCluster) -> None:
    def ctl(*arguments: str, status: int = 0) -> Any:
        done = CliRunner().invoke(app, ["--url", cluster.control_url, "--json", *arguments])
        assert done.exit_code == status, done.output
        return done.output if status else json.loads(done.output)

    configs = ("--config", "retention.ms=7", "--config", "segment.ms=9")
    ctl("topics", "create", "orders", "--partitions", "2", *configs)
    assert cluster.topic("orders").configs == {"retention.ms": "7", "segment.ms": "9"}
    ctl("records", "produce", "orders", "--value", "a", "--key", "k", "--headers", "h=1")
    [record] = ctl("records", "list", "orders", "--isolation-level", "read_committed")
    assert (record["value"], record["key"], record["headers"][0]["value"]) == ("a", "k", "1")
    assert "give read_uncommitted or read_committed" in ctl(
        "records", "list", "orders", "--isolation-level", "serializable", status=2
    )
    assert "no group 'billing'" in ctl("groups", "committed", "billing", status=1)
    assert ctl("transactions", "list") == []
    assert ctl("topics", "delete", "orders")["name"] == "orders"


def test_long_records_are_cut(cluster: MockCluster, asking: Asking) -> None:
    cluster.create_topic("orders")
    for value in (b"short", b"long enough", "längere".encode(), b"\xff" * 9):
        cluster.produce("orders", value, partition=0, key=value[:2], headers={"h": value})
    path = "/topics/orders/records?partition=0"
    told = asking("GET", f"{path}&most_bytes=5")[1]
    values = [(each["value"], each["value_encoding"], each["value_bytes"]) for each in told]
    assert values == [
        ("short", "utf-8", 5),
        ("long ", "utf-8", 11),
        ("läng", "utf-8", 8),
        ("//////8=", "base64", 9),
    ]
    assert [each["key_bytes"] for each in told] == [2, 2, 2, 2]
    assert told[1]["headers"][0]["value"] == "long "
    [cut] = asking("GET", f"{path}&most_bytes=2&offset=2")[1][:1]
    assert (cut["value"], cut["value_bytes"]) == ("l", 8)
    assert [each["compression"] for each in told] == ["none"] * 4
    assert told[1]["size"] > told[0]["size"] > 5
    status, wrong = asking("GET", f"{path}&most_bytes=-1")
    assert status == 400
    assert "most_bytes is -1" in wrong["error"]
