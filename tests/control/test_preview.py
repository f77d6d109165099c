"""What a fault would have done, before it is added."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from mockbroker import MockCluster
from mockbroker.control.fault_schema import fault_schema
from mockbroker.faults.actions import ACTIONS
from mockbroker.protocol.api_keys import CODEC_VERSIONS
from mockbroker.rig.client import Client

from ..driving.clients import raw_client
from .asking import ask

Asking = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    """Of which a producer and a consumer, with a group and a transaction, have asked what they ask."""
    with MockCluster(control=True, trace=True, topics={"orders": 2, "more": 1}) as started:
        servers = {"bootstrap.servers": started.bootstrap_servers}
        producer = Producer({**servers, "transactional.id": "billing", "client.id": "pays"})
        producer.init_transactions()
        producer.begin_transaction()
        for partition in (0, 1):
            producer.produce("orders", b"v", partition=partition)
        producer.commit_transaction()
        consumer = Consumer(
            {**servers, "group.id": "g", "client.id": "reads", "auto.offset.reset": "earliest"}
        )
        consumer.subscribe(["orders"])
        assert len(consumer.consume(2, timeout=30)) == 2
        consumer.commit(asynchronous=False)
        consumer.close()
        yield started


@pytest.fixture
def asking(cluster: MockCluster) -> Asking:
    return lambda method, path, *rest: ask(method, cluster.control_url + path, *rest)


CONDITIONS: list[dict[str, Any]] = [
    {},
    {"api": "Produce"},
    {"api": ["Produce", "Fetch"], "topic": "orders"},
    {"topic": "more"},
    {"topic": "ord*", "partition": 1},
    {"partition": 0},
    {"group": "g"},
    {"transactional_id": "bill*"},
    {"client_id": "reads", "group": "g"},
    {"broker": 2},
    {"api": "Fetch", "nth": 2},
    {"api": "Metadata", "times": 1},
    {"probability": 0.5, "seed": 3},
]


def test_it_is_what_the_fault_does_to_the_same_requests() -> None:
    """That come once before the fault is there, and once when it is."""
    with MockCluster(control=True, trace=True, topics={"orders": 2, "more": 1}) as cluster:
        hosts = [each.split(":") for each in cluster.bootstrap_servers.split(",")]
        faults = f"{cluster.control_url}/faults"

        def send() -> None:
            for client_id, (host, port) in zip(("reads", "pays", "x"), hosts, strict=True):
                with Client(host, int(port), client_id=client_id) as client:
                    for api, version, fields in REQUESTS:
                        client.call(api, version, fields)

        send()
        asked = [each.number for each in cluster.trace.events("request")]
        watching = [{"do": "watch", **each} for each in CONDITIONS]
        told = [ask("POST", f"{faults}/preview", each)[1] for each in watching]
        assert ask("GET", faults)[1] == []
        names = [ask("POST", faults, each)[1]["name"] for each in watching]
        send()
        found = [ask("GET", f"{faults}/{each}")[1] for each in names]
    assert len({len(each["touched"]) for each in told}) > 5
    for conditions, before, after in zip(CONDITIONS, told, found, strict=True):
        assert before["requests"] == len(asked)
        assert set(before["touched"]) <= set(asked)
        assert len(before["touched"]) == after["hits"] <= before["matching"], conditions
        assert (before["fault"], before["illegal"]) == (after["fault"], after["illegal"])
        assert bool(before["why"]) == (not after["hits"])


_PARTITIONS = [{"topic": "orders", "partitions": [{"partition": 1, "fetch_offset": 0}]}]
_OF_ORDERS = {"name": "orders", "partition_indexes": [0]}
REQUESTS: list[tuple[str, int, dict[str, Any]]] = [
    ("metadata", 9, {"topics": [{"name": "orders"}]}),
    ("find_coordinator", 4, {"key_type": 0, "coordinator_keys": ["g"]}),
    ("find_coordinator", 4, {"key_type": 1, "coordinator_keys": ["billing"]}),
    ("fetch", 11, {"topics": _PARTITIONS, "max_wait": 0}),
    (
        "list_offsets",
        5,
        {"topics": [{"name": "more", "partitions": [{"partition_index": 0, "timestamp": -1}]}]},
    ),
    (
        "offset_fetch",
        8,
        {"groups": [{"group_id": "g", "topics": [{"name": "orders", "partition_indexes": [0]}]}]},
    ),
    ("describe_groups", 5, {"groups": ["g", "h"]}),
    ("describe_transactions", 0, {"transactional_ids": ["billing"]}),
]


def test_real_clients_would_be_touched(cluster: MockCluster, asking: Asking) -> None:
    def would(**fault: Any) -> Any:
        status, told = asking("POST", "/faults/preview", {"do": "disconnect", **fault})
        assert status == 200
        return told

    def touched(**fault: Any) -> list[Any]:
        # More requests may come before the answer does.
        numbers = would(**fault)["touched"]
        requests = {each.number: each for each in cluster.trace.events("request")}
        return [requests[each] for each in numbers]

    for name in ("group", "transactional_id"):
        value = {"group": "g", "transactional_id": "billing"}[name]
        found = touched(**{name: value})
        assert found
        assert {value} <= set.intersection(*(set(each.names) for each in found))
    by_id = touched(api="Fetch", topic="orders")
    assert by_id, "a Fetch names the topic by its id"
    assert would(topic="ordres")["why"].endswith("(they were for 'orders': did you mean that?)")
    assert asking("GET", "/faults") == (200, [])


def test_what_no_broker_does_is_told(asking: Asking) -> None:
    fault = {"do": "error", "error": "NOT_COORDINATOR", "api": "Produce"}
    told = asking("POST", "/faults/preview", fault)[1]
    assert told["illegal"].startswith("no broker answers NOT_COORDINATOR in Produce")


def test_without_bodies_only_names_are_not_known() -> None:
    with MockCluster(control=True, trace="requests", topics={"orders": 1}) as cluster:
        with raw_client(cluster) as client:
            client.call("metadata", 9, {"topics": [{"name": "orders"}]})
        path = f"{cluster.control_url}/faults/preview"
        assert ask("POST", path, {"do": "disconnect", "api": "Metadata"})[1]["matching"] == 1
        status, told = ask("POST", path, {"do": "disconnect", "topic": "orders"})
        assert (status, "trace=True" in told["error"]) == (409, True)


SCHEMA = fault_schema()
BY_ACTION = {each["title"]: each for each in SCHEMA["oneOf"]}
GOOD = {"error": "NOT_LEADER_OR_FOLLOWER", "assignment": {}, "field": "leader_id", "value": 1, "target": 1}
GOOD |= {"acl": "bob allow read on topic:t", "password": "secret"}
BAD: dict[str, Any] = {"error": "NONSENSE", "api": [[]], "field": "nonsense", "topic": 1, "group": 1}
BAD |= {"topic_id": "orders", "resource": 1}
BAD |= {
    "client_id": 1,
    "user": 1,
    "mechanism": 1,
    "listener": 1,
    "transactional_id": 1,
    "when": "later",
    "member": 1,
    "password": 1,
    "do": "nothing",
}
LAX = {"value", "by", "version", "optional", "name"}
"""Fields that take anything."""


def test_the_schema_has_every_action_with_its_fields() -> None:
    assert BY_ACTION.keys() == ACTIONS.keys()
    error = BY_ACTION["error"]["properties"]["error"]
    assert "NOT_COORDINATOR" not in error["x-legal"]["Produce"]
    assert "NOT_LEADER_OR_FOLLOWER" in error["x-legal"]["Produce"]
    assert len(error["x-legal"]) == len(SCHEMA["properties"]["api"]["examples"]) == len(CODEC_VERSIONS)


@pytest.mark.parametrize("do", sorted(ACTIONS))
def test_an_error_names_the_field(asking: Asking, do: str) -> None:
    """Of each action: each field that is wrong, or that is missing."""
    action = BY_ACTION[do]
    good = {name: GOOD.get(name, 1) for name in action["required"]} | {"do": do}
    if do == "replace":
        good["api"] = "Metadata"
    assert asking("POST", "/faults/preview", good)[0] == 200
    for name in {**SCHEMA["properties"], **action["properties"]}.keys() - LAX:
        status, told = asking("POST", "/faults/preview", {**good, name: BAD.get(name, "x")})
        assert (status, told.get("field")) == (400, name), told
    for name in action["required"]:
        status, told = asking("POST", "/faults/preview", {key: good[key] for key in good if key != name})
        assert status == 400
        assert told.get("field") == name or (name == "do" and "needs do" in told["error"])
