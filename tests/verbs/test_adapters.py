"""Whatever stands in the table of verbs is there in every way to control a cluster."""

import inspect
from dataclasses import fields
from typing import Any

import pytest

from mockbroker import ConflictError, MockCluster, OptionError
from mockbroker.control.table import OPERATIONS
from mockbroker.errors import NotThereError
from mockbroker.faults.actions import ACTIONS
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import Client
from mockbroker.server.running import RunningCluster
from mockbroker.simulation.steps import STEPS
from mockbroker.verbs.subjects import LISTENER
from mockbroker.verbs.table import VERBS
from mockbroker.verbs.verb import Verb

from ..control.asking import ask

METHODS = {"cut-off-broker": "cut_off", "rejoin-broker": "rejoin"}
"""Those that are not called like their verb."""
PLACES = {
    "topic": "t",
    "partition": 0,
    "broker": 3,
    "listener": "LOGIN",
    "group": "g",
    "member": "mock",
    "transactional_id": "x",
    "delay_ms": 100,
    "password": "secret",
}
UNDONE = {
    "start-broker": "stop-broker",
    "open-listener": "close-listener",
    "rejoin-broker": "cut-off-broker",
    "resume-follower": "pause-follower",
    "remove-acl": "add-acl",
    "remove-user": "set-password",
}
"""What has to have happened before."""
AGAIN = ("move-leader", "move-coordinator")
"""Those that can be done again and again."""
GONE = ("evict-member", "expire-transactional-id")
"""Those after which what they act on is not there any more."""
SECURITY = {
    "super_users": ["ANONYMOUS"],
    "listeners": {"OPEN": "PLAINTEXT", "LOGIN": "SASL_PLAINTEXT"},
    "sasl": ["plain", "scram-sha-256"],
    "users": {"alice": "secret"},
}
every_verb = pytest.mark.parametrize("verb", VERBS.values(), ids=lambda verb: verb.name)


@every_verb
def test_it_is_a_method(verb: Verb[Any, ...]) -> None:
    method = getattr(RunningCluster, METHODS.get(verb.name, verb.name.replace("-", "_")))
    taken = {name for each in verb.subjects for name in each.keys}
    taken |= {each.keyword for each in verb.parameters.values()}
    assert set(inspect.signature(method).parameters) - {"self"} == taken
    assert "ConflictError" in method.__doc__


@every_verb
def test_it_is_an_operation_of_each_of_its_subjects(verb: Verb[Any, ...]) -> None:
    found = [each for each in OPERATIONS.values() if each.description == verb.help]
    assert [set(each.parameters) for each in found] == [
        {*each.keys, *verb.parameters} for each in verb.subjects
    ]
    assert all(each.method == "POST" for each in found)


@every_verb
def test_it_is_what_a_fault_does(verb: Verb[Any, ...]) -> None:
    action = ACTIONS[verb.name]
    assert " ".join((action.__doc__ or "").split()).startswith(verb.help)
    own = {each.keyword for each in verb.parameters.values()} - {"to"}
    assert {each.name for each in fields(action)} - {"target"} == own


@every_verb
def test_it_is_a_step_of_histories(verb: Verb[Any, ...]) -> None:
    assert STEPS[verb.name].help == verb.help


@pytest.fixture(scope="module")
def cluster() -> Any:
    with MockCluster(
        control=True,
        clock="manual",
        security=SECURITY,
        config={"group.initial.rebalance.delay.ms": "0"},
    ) as started:
        yield started


def call(cluster: MockCluster, broker: int, api: str, version: int, **fields: Any) -> dict[str, Any]:
    with a_client(cluster, broker) as client:
        return client.call(api, version, fields)


def a_client(cluster: MockCluster, broker: int) -> Client:
    host, port = cluster.bootstrap_servers.split(",")[broker - 1].split(":")
    return Client(host, int(port), client_id="mock")


def join(cluster: MockCluster, topic: str) -> None:
    coordinator = call(cluster, 1, "find_coordinator", 2, key="g", key_type=0)["node_id"]
    timeouts = {"session_timeout": 10_000, "rebalance_timeout": 60_000}
    member = {"group_id": "g", "protocol_type": "consumer", **timeouts}
    member["protocols"] = [{"name": "range", "metadata": b""}]
    assert call(cluster, coordinator, "join_group", 3, **member)["error_code"] == "NONE"


def write(cluster: MockCluster, topic: str) -> None:
    records = batch([Record(timestamp=0)], producer_id=7, producer_epoch=0, sequence=0)
    data = [{"name": topic, "partition_data": [{"index": 0, "records": records}]}]
    call(cluster, 1, "produce", 8, acks=1, topic_data=data)


def initialize(cluster: MockCluster, topic: str) -> None:
    coordinator = call(cluster, 1, "find_coordinator", 2, key="x", key_type=1)["node_id"]
    call(cluster, coordinator, "init_producer_id", 1, transactional_id="x", transaction_timeout=1_000)


def fetch(cluster: MockCluster, topic: str) -> None:
    topics = [{"topic": topic, "partitions": [{"partition": 0, "fetch_offset": 0}]}]
    call(cluster, 3, "fetch", 11, max_wait=0, session_epoch=0, topics=topics)


def share(cluster: MockCluster, topic: str) -> None:
    """A member of the share group that has the name of the topic reads at its leader."""
    write(cluster, topic)
    member: dict[str, Any] = {"group_id": topic, "member_id": "memberAAAAAAAAAAAAAAAA"}
    coordinator = call(cluster, 1, "find_coordinator", 2, key=topic, key_type=0)["node_id"]
    reset = {"name": "share.auto.offset.reset", "config_operation": 0, "value": "earliest"}
    resource = {"resource_type": 32, "resource_name": topic, "configs": [reset]}
    call(cluster, 1, "incremental_alter_configs", 1, resources=[resource])
    epoch = 0
    for _ in range(3):
        fields = {**member, "member_epoch": epoch, "subscribed_topic_names": [topic]}
        epoch = call(cluster, coordinator, "share_group_heartbeat", 1, **fields)["member_epoch"]
        cluster.clock.advance("2s")
    topic_id = cluster.run(lambda core: core.topics[topic].id)
    fields = {"max_wait": 0, "min_bytes": 0, "max_bytes": 1_000_000, "max_records": 10, "batch_size": 10}
    fields["topics"] = [{"topic_id": topic_id, "partitions": [{"partition_index": 0}]}]
    HELD.append(a_client(cluster, 3 if topic.startswith("drop") else 1))
    for _ in range(2):
        HELD[-1].call("share_fetch", 1, {**member, **fields, "share_session_epoch": 0})
        cluster.clock.advance("1s")


HELD: list[Client] = []
"""Connections without which sessions end."""
USED = {
    "evict-member": join,
    "expire-producer": write,
    "expire-transactional-id": initialize,
    "drop-fetch-sessions": fetch,
    "drop-share-sessions": share,
    "expire-locks": share,
}
"""What clients have to do before."""


@every_verb
def test_it_is_refused_over_http_and_in_python_when_it_would_change_nothing(
    cluster: MockCluster, verb: Verb[Any, ...]
) -> None:
    cluster.create_topic(verb.name, replica_assignment=[[1, 2, 3]])
    group = {"group": verb.name} if USED.get(verb.name) is share else {}
    own = {**group, "topic": verb.name, "user": verb.name, "acl": f"bob allow read on topic:{verb.name}"}
    places = {**PLACES, **own}
    [operation, *_] = [each for each in OPERATIONS.values() if each.description == verb.help]
    url = cluster.control_url + operation.path.format(**places)
    body = {each: places[each] for each in ("delay_ms", "acl", "password") if each in operation.parameters}
    if verb.name in UNDONE:
        do(cluster, UNDONE[verb.name], places)
    if verb.name in USED:
        USED[verb.name](cluster, verb.name)
    status, answer = ask("POST", url, body)
    assert status == 200, answer
    if verb.name not in AGAIN:
        gone = verb.name in GONE
        status, answer = ask("POST", url, body)
        assert status == (404 if gone else 409)
        with pytest.raises(NotThereError if gone else ConflictError) as caught:
            do(cluster, verb.name, places)
        assert str(caught.value) == answer["error"]
    cluster.run(lambda core: VERBS["slow-metadata"].attempt(core, core.brokers[3], delay_ms=0))
    cluster.run(lambda core: VERBS["open-listener"].attempt(core, LISTENER.find(core, 3, "LOGIN")))
    for name in ("start-broker", "rejoin-broker"):
        cluster.run(lambda core, name=name: VERBS[name].attempt(core, core.brokers[3]))  # type: ignore[misc]
    cluster.clock.advance("1m")
    while HELD:
        HELD.pop().close()
    assert not {"offline", "cut off"} & {each.state for each in cluster.replicas(verb.name, 0)}


def do(cluster: MockCluster, name: str, places: dict[str, Any]) -> None:
    method = getattr(cluster, METHODS.get(name, name.replace("-", "_")))
    method(**{each: places[each] for each in inspect.signature(method).parameters if each in places})


def test_whose_coordinator_has_to_be_said_and_once(cluster: MockCluster) -> None:
    twice: dict[str, Any] = {"group": "g", "transactional_id": "x"}
    for given in ({}, twice):
        with pytest.raises(OptionError, match="give group or transactional_id"):
            cluster.move_coordinator(**given)
