"""Error codes in place of the work, for every API and every version of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from mockbroker.apis.advertised import answered
from mockbroker.apis.registry import REGISTERED
from mockbroker.cluster.replicas import describe
from mockbroker.faults import FaultError, Faults
from mockbroker.faults.places import levels
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.releases import facts, parse
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import Known, kio_versions, known_fields
from tests.driving.cluster import a_cluster, create
from tests.driving.in_memory import InMemoryClient

CODE = "KAFKA_STORAGE_ERROR"
TOPIC = {"name": "t", "topic": "t"}
PARTITION = {"index": 0, "partition_index": 0, "partition": 0}
TOPICS = [{**TOPIC, "partitions": [PARTITION], "partition_indexes": (0,)}]
BARE_TOPICS = [{**TOPIC, "partitions": (0,), "partition_indexes": (0,)}]
NAMED_TOPICS = [{"topic_name": "t", "partitions": [PARTITION]}]
OF_SHARE_GROUP = {"group_id": "g", "member_id": "m", "topics": TOPICS}
OF_GROUP = {"group_id": "g", "topics": BARE_TOPICS}
REQUESTS: dict[str, dict[str, Any]] = {
    "produce": {"acks": 1, "topic_data": [{"name": "t", "partition_data": [{"index": 0}]}]},
    "fetch": {"max_wait": 0, "topics": TOPICS},
    "list_offsets": {"replica_id": -1, "topics": TOPICS},
    "metadata": {"topics": [{"name": "t"}]},
    "offset_commit": {"group_id": "g", "topics": TOPICS},
    "offset_fetch": {
        "group_id": "g",
        "topics": BARE_TOPICS,
        "groups": [{"group_id": "g", "topics": BARE_TOPICS}],
    },
    "find_coordinator": {"key": "g", "coordinator_keys": ("g",)},
    "join_group": {"group_id": "g", "member_id": "m"},
    "leave_group": {"group_id": "g", "member_id": "m", "members": [{"member_id": "m"}]},
    "describe_groups": {"groups": ("g",)},
    "create_acls": {"creations": [{"resource_name": "t"}]},
    "alter_client_quotas": {"entries": [{"ops": []}]},
    "describe_user_scram_credentials": {"users": [{"name": "u"}]},
    "alter_user_scram_credentials": {"upsertions": [{"name": "u"}]},
    "delete_acls": {"filters": [{"operation": 1}]},
    "consumer_group_describe": {"group_ids": ("g",)},
    "create_topics": {"topics": [{"name": "new", "num_partitions": 1, "replication_factor": 1}]},
    "delete_topics": {"topics": [{"name": "t"}], "topic_names": ("t",)},
    "delete_records": {"topics": TOPICS},
    "offset_for_leader_epoch": {"replica_id": -1, "topics": TOPICS},
    "add_partitions_to_txn": {
        "v3_and_below_transactional_id": "x",
        "v3_and_below_topics": BARE_TOPICS,
        "transactions": [{"transactional_id": "x", "topics": BARE_TOPICS}],
    },
    "write_txn_markers": {"markers": [{"topics": BARE_TOPICS}]},
    "txn_offset_commit": {"group_id": "g", "topics": TOPICS},
    "describe_configs": {"resources": [{"resource_type": 2, "resource_name": "t"}]},
    "alter_configs": {"resources": [{"resource_type": 2, "resource_name": "t"}]},
    "incremental_alter_configs": {"resources": [{"resource_type": 2, "resource_name": "t"}]},
    "create_partitions": {"topics": [{"name": "t", "count": 5}]},
    "delete_groups": {"groups_names": ("g",)},
    "elect_leaders": {"topic_partitions": BARE_TOPICS},
    "alter_partition_reassignments": {"topics": TOPICS},
    "offset_delete": {"group_id": "g", "topics": TOPICS},
    "describe_producers": {"topics": BARE_TOPICS},
    "describe_transactions": {"transactional_ids": ("x",)},
    "describe_topic_partitions": {"topics": [{"name": "t"}]},
    "alter_replica_log_dirs": {"dirs": [{"path": "/tmp/kafka-logs", "topics": BARE_TOPICS}]},
    "unregister_broker": {"broker_id": 99},
    "update_features": {"feature_updates": [{"feature": "group.version"}]},
    "share_group_describe": {"group_ids": ("g",)},
    "streams_group_describe": {"group_ids": ("g",)},
    "share_fetch": OF_SHARE_GROUP,
    "share_acknowledge": OF_SHARE_GROUP,
    "initialize_share_group_state": OF_SHARE_GROUP,
    "read_share_group_state": OF_SHARE_GROUP,
    "write_share_group_state": OF_SHARE_GROUP,
    "delete_share_group_state": OF_SHARE_GROUP,
    "read_share_group_state_summary": OF_SHARE_GROUP,
    "describe_share_group_offsets": {
        "groups": [{"group_id": "g", "topics": [{**TOPIC, "partitions": (0,)}]}]
    },
    "alter_share_group_offsets": {"group_id": "g", "topics": NAMED_TOPICS},
    "delete_share_group_offsets": {"group_id": "g", "topics": [{"topic_name": "t"}]},
    "describe_quorum": {"topics": [{"topic_name": "t", "partitions": [PARTITION]}]},
}
"""A request of each API that names something; the others need no more than their defaults."""


_TOKENS = {ApiKey.CREATE_DELEGATION_TOKEN, ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN}
"""kio can't read their answers, which have the time -1."""


def versions() -> Iterator[tuple[str, int]]:
    for key in sorted(set(REGISTERED) - {ApiKey.LIST_PARTITION_REASSIGNMENTS, *_TOKENS}):
        for version in kio_versions(key.name.lower()):
            if key in facts(parse("4.4")).apis and answered(parse("4.4"), key, version):
                yield key.name.lower(), version


def codes(value: Any) -> Iterator[str]:
    """Every error code in an answer, wherever it stands."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name.endswith("error_code"):
                yield inner
            else:
                yield from codes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from codes(inner)


@pytest.mark.parametrize(("api", "version"), list(versions()))
def test_in_place_of_the_work(api: str, version: int) -> None:
    cluster = a_cluster()
    create(cluster, "t")
    topic = cluster.topics["t"]
    faults = Faults(cluster)
    fault = faults.add("error", error=CODE, api=api)
    client = InMemoryClient(cluster, topic.partitions[0].leader, faults)
    request = fitting(by_id(REQUESTS.get(api, {}), topic.id), known_fields(api))
    answer = client.call(api, version, request)
    assert CODE in set(codes(answer)), answer
    assert fault.hits == 1
    assert [name for name in cluster.topics if not name.startswith("__")] == ["t"]
    assert len(topic.partitions) == 1
    faults.remove(fault)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (
            "LEADER_NOT_AVAILABLE",
            [("t", "NONE", [("LEADER_NOT_AVAILABLE", -1)]), ("u", "NONE", [("NONE", 1)])],
        ),
        ("UNKNOWN_TOPIC_OR_PARTITION", [("u", "NONE", [("NONE", 1)])]),
        ("TOPIC_AUTHORIZATION_FAILED", [("u", "NONE", [("NONE", 1)])]),
    ],
)
def test_no_topic_has_an_error_where_all_were_asked_for(error: str, told: list[object]) -> None:
    cluster = a_cluster(brokers=1)
    create(cluster, "t")
    create(cluster, "u")
    faults = Faults(cluster)
    faults.add("error", error=error, api="Metadata", topic="t")
    answer = InMemoryClient(cluster, 1, faults).call("metadata", 12, {"topics": None})
    assert [
        (
            each["name"],
            each["error_code"],
            [(one["error_code"], one["leader_id"]) for one in each["partitions"]],
        )
        for each in answer["topics"]
    ] == told


def fitting(value: Any, known: Known) -> Any:
    """Without the fields that requests of the API have in no version."""
    if isinstance(value, dict):
        return {name: fitting(inner, known[name]) for name, inner in value.items() if name in known}
    if isinstance(value, list):
        return [fitting(inner, known) for inner in value]
    return value


def by_id(value: Any, topic_id: Any) -> Any:
    """Names the topic by its id too."""
    if isinstance(value, dict):
        named = {"topic_id": topic_id} if "t" in (value.get("name"), value.get("topic")) else {}
        return {**named, **{name: by_id(inner, topic_id) for name, inner in value.items()}}
    return [by_id(each, topic_id) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("error", "leader"), [("NOT_LEADER_OR_FOLLOWER", -1), ("FENCED_LEADER_EPOCH", -1), (CODE, 0)]
)
@pytest.mark.parametrize("api", ["share_fetch", "share_acknowledge"])
def test_who_leads_is_not_told_wrongly(api: str, error: str, leader: int) -> None:
    """Brokers tell it with the first two errors, and otherwise leave the fields as they are: 0."""
    cluster = a_cluster(brokers=1)
    create(cluster, "t")
    faults = Faults(cluster)
    faults.add("error", error=error, api=api, level="partition")
    client = InMemoryClient(cluster, 1, faults)
    request = fitting(by_id(REQUESTS[api], cluster.topics["t"].id), known_fields(api))
    [topic] = client.call(api, 1, request)["responses"]
    [part] = topic["partitions"]
    assert (part["error_code"], part["current_leader"]["leader_id"]) == (error, leader)


def test_only_for_the_partitions_that_are_named() -> None:
    cluster = a_cluster(brokers=1)
    for name in ("t", "other"):
        create(cluster, name, 2)
    faults = Faults(cluster)
    faults.add("error", error="NOT_LEADER_OR_FOLLOWER", api="ListOffsets", topic="t", partition=1)
    client = InMemoryClient(cluster, 1, faults)
    topics = [
        {"name": name, "partitions": [{"partition_index": i, "timestamp": -1} for i in (0, 1)]}
        for name in ("t", "other")
    ]
    answer = client.call("list_offsets", 5, {"replica_id": -1, "topics": topics})
    found = {
        (topic["name"], each["partition_index"]): each["error_code"]
        for topic in answer["topics"]
        for each in topic["partitions"]
    }
    assert found == {
        ("t", 0): "NONE",
        ("t", 1): "NOT_LEADER_OR_FOLLOWER",
        ("other", 0): "NONE",
        ("other", 1): "NONE",
    }


def test_after_the_work_it_is_done() -> None:
    cluster = a_cluster(brokers=1)
    create(cluster, "t")
    faults = Faults(cluster)
    faults.add("error", error="NOT_ENOUGH_REPLICAS_AFTER_APPEND", api="Produce", when="after", times=1)
    client = InMemoryClient(cluster, 1, faults)
    data = [{"index": 0, "records": batch([Record(timestamp=0)])}]
    request = {"acks": 1, "topic_data": [{"name": "t", "partition_data": data}]}
    seen = [next(codes(client.call("produce", 9, request))) for _ in range(2)]
    assert seen == ["NOT_ENOUGH_REPLICAS_AFTER_APPEND", "NONE"]
    assert describe(cluster.topics["t"].partitions[0])[0].log_end_offset == 2


@pytest.mark.parametrize("level", ["top", "member"])
def test_at_a_level(level: str) -> None:
    cluster = a_cluster(brokers=1)
    faults = Faults(cluster)
    faults.add("error", error="NOT_COORDINATOR", api="LeaveGroup", level=level)
    client = InMemoryClient(cluster, 1, faults)
    answer = client.call("leave_group", 5, REQUESTS["leave_group"])
    expected = {"top": ("NOT_COORDINATOR", "NONE"), "member": ("NONE", "NOT_COORDINATOR")}
    assert (answer["error_code"], answer["members"][0]["error_code"]) == expected[level]


def test_a_code_that_kafka_does_not_have() -> None:
    cluster = a_cluster(brokers=1)
    faults = Faults(cluster)
    faults.add("error", error=9999, api="Heartbeat")
    client = InMemoryClient(cluster, 1, faults)
    with pytest.raises(Exception, match="9999"):
        client.call("heartbeat", 4, {"group_id": "g"})


def test_a_push_of_metrics_that_a_fault_refuses_is_not_taken() -> None:
    cluster = a_cluster(brokers=1)
    cluster.configs.client_metrics["m"] = {"interval.ms": "1000", "metrics": "a."}
    cluster.configs.client_metrics_changes += 1
    faults = Faults(cluster)
    fault = faults.add("error", error=CODE, api="PushTelemetry")
    client = InMemoryClient(cluster, 1, faults)
    names = ("client_instance_id", "subscription_id")
    subscribed = client.call("get_telemetry_subscriptions", 0, {})
    pushed = {name: subscribed[name] for name in names}
    assert client.call("push_telemetry", 0, {**pushed, "metrics": b"m"})["error_code"] == CODE
    assert [each.pushes for each in cluster.brokers[1].telemetry.instances] == [0]
    faults.remove(fault)
    assert client.call("push_telemetry", 0, {**pushed, "metrics": b"m"})["error_code"] == "NONE"
    assert [each.pushes for each in cluster.brokers[1].telemetry.instances] == [1]


def test_what_a_fault_refuses_has_an_entry_for_all_that_was_asked() -> None:
    """Of lists within lists too."""
    cluster = a_cluster(brokers=1)
    faults = Faults(cluster)
    faults.add("error", error=CODE, api="AlterReplicaLogDirs")
    client = InMemoryClient(cluster, 1, faults)
    dirs = [{"path": f"/{name}", "topics": [{"name": name, "partitions": (0, 1)}]} for name in "ab"]
    answer = client.call("alter_replica_log_dirs", 2, {"dirs": dirs})
    assert [
        (topic["topic_name"], each["partition_index"], each["error_code"])
        for topic in answer["results"]
        for each in topic["partitions"]
    ] == [(name, index, CODE) for name in "ab" for index in (0, 1)]


def test_topics_are_known_by_whatever_an_api_calls_their_names() -> None:
    cluster = a_cluster(brokers=1)
    faults = Faults(cluster)
    fault = faults.add("error", error=CODE, api="DescribeQuorum", topic="__cluster_metadata", partition=0)
    client = InMemoryClient(cluster, 1, faults)
    topics = [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]
    (topic,) = client.call("describe_quorum", 2, {"topics": topics})["topics"]
    assert [each["error_code"] for each in topic["partitions"]] == [CODE]
    assert fault.hits == 1


def test_levels_of_an_api() -> None:
    assert levels(ApiKey.FETCH) == ("top", "partition")
    assert levels(ApiKey.OFFSET_FETCH) == ("top", "group", "partition")
    assert levels(ApiKey.LEAVE_GROUP) == ("top", "member")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"do": "diskonnect"}, "did you mean 'disconnect'"),
        ({"do": "disconnect", "api": "Produse"}, "did you mean 'Produce'"),
        ({"do": "disconnect", "topik": "t"}, "did you mean 'topic'"),
        ({"do": "disconnect", "when": "now"}, "choose one of after, before, instead"),
        ({"do": "disconnect", "nth": 0}, "1 or more"),
        ({"do": "disconnect", "topic": 7}, "give a name"),
        ({"do": "disconnect", "probability": 2}, "1 at most"),
        ({"do": "delay"}, "delay needs 'ms'"),
        ({"do": "delay", "ms": "soon"}, "a number, 0 or more"),
        ({"do": "throttle", "ms": -1}, "a number, 0 or more"),
        ({"do": "replace", "api": "Metadata", "field": "leeder_id", "value": 1}, "did you mean 'leader_id'"),
        ({"do": "replace", "field": "leader_id", "value": 1}, "replace needs 'api'"),
        ({"do": "stop-broker", "target": 9}, "choose one of 1, 2, 3"),
        ({"do": "disconnect", "broker": 9}, "choose one of 1, 2, 3"),
        ({"do": "hide-broker"}, "needs 'target'"),
        ({"do": "corrupt-crc", "api": "Metadata"}, "api='Fetch'"),
        ({"do": "stale-metadata", "api": "Fetch"}, "api='Metadata'"),
        ({"do": "error", "error": "NOT_LEEDER"}, "did you mean 'NOT_LEADER_OR_FOLLOWER'"),
        ({"do": "error", "error": 70_000}, "two bytes"),
        ({"do": "error", "error": 1, "level": "partitoin"}, "did you mean 'partition'"),
        ({"do": "error", "error": 1, "api": "Heartbeat", "level": "partition"}, "at top level"),
    ],
)
def test_what_can_not_be(given: dict[str, Any], message: str) -> None:
    with pytest.raises(FaultError, match=message):
        Faults(a_cluster()).add(**given)
