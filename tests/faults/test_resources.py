"""Faults for one of the resources that a request names, and for a topic by its id."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.apis.registry import REGISTERED
from mockbroker.faults import FaultError, Faults
from mockbroker.faults.places import levels
from mockbroker.protocol.primitives import short_uuid
from tests.driving.cluster import a_cluster, create
from tests.driving.in_memory import InMemoryClient

from .test_errors import codes

CODE = "POLICY_VIOLATION"
CONFIGS = {"resources": [{"resource_type": 2, "resource_name": each} for each in ("a", "b")]}
ACL = {"resource_type": 2, "resource_pattern_type": 3, "principal": "User:a", "host": "*", "operation": 3}
FILTER = {"resource_type_filter": 2, "pattern_type_filter": 3, "operation": 1, "permission_type": 1}
SCRAM = {"mechanism": 1, "iterations": 4096, "salt": b"s", "salted_password": b"p"}
TWO: dict[str, tuple[int, dict[str, Any]]] = {
    "create_acls": (
        3,
        {"creations": [{**ACL, "permission_type": 3, "resource_name": each} for each in ("a", "b")]},
    ),
    "delete_acls": (3, {"filters": [{**FILTER, "resource_name_filter": each} for each in ("a", "b")]}),
    "describe_configs": (
        4,
        {"resources": [{"resource_type": 2, "resource_name": each} for each in ("a", "b")]},
    ),
    "alter_configs": (2, CONFIGS),
    "incremental_alter_configs": (1, CONFIGS),
    "alter_client_quotas": (
        1,
        {
            "entries": [
                {"entity": [{"entity_type": "user", "entity_name": each}], "ops": []} for each in ("a", "b")
            ]
        },
    ),
    "describe_user_scram_credentials": (0, {"users": [{"name": each} for each in ("a", "b")]}),
    "alter_user_scram_credentials": (0, {"upsertions": [{**SCRAM, "name": each} for each in ("a", "b")]}),
    "update_features": (
        1,
        {"feature_updates": [{"feature": each, "max_version_level": 1} for each in ("a", "b")]},
    ),
    "leave_group": (5, {"group_id": "g", "members": [{"member_id": each} for each in ("a", "b")]}),
}
"""A request of each API that names the resources `a` and `b`, and its version."""


@pytest.mark.parametrize(
    ("api", "when"),
    # Of features that don't exist nothing is answered but an error at the top.
    [(api, when) for api in TWO if api != "update_features" for when in ("instead", "after")],
)
def test_only_the_resource_that_is_named_has_the_error(api: str, when: str) -> None:
    cluster = a_cluster(brokers=1)
    faults = Faults(cluster)
    fault = faults.add("error", error=CODE, api=api, resource="b*", when=when)
    version, request = TWO[api]
    answer = InMemoryClient(cluster, 1, faults).call(api, version, request)
    within = [code for value in answer.values() if isinstance(value, list) for code in codes(value)]
    assert [code == CODE for code in within] == [False, True], answer
    assert fault.hits == 1


def test_all_apis_with_errors_of_resources_are_tried() -> None:
    """That of DescribeAcls and its like is at the top."""
    assert {key.name.lower() for key in REGISTERED if {"resource", "member"} & set(levels(key))} == set(TWO)


@pytest.mark.parametrize("api", TWO)
def test_a_request_for_others_is_none_of_it(api: str) -> None:
    cluster = a_cluster(brokers=1)
    faults = Faults(cluster)
    fault = faults.add("error", error=CODE, api=api, resource="aa")
    version, request = TWO[api]
    InMemoryClient(cluster, 1, faults).call(api, version, request)
    assert fault.hits == 0
    assert "none for the resource 'aa' (they were for 'a', 'b': did you mean 'a'?)" in fault.why


def test_acls_and_quotas_are_described_by_name() -> None:
    cluster = a_cluster(brokers=1)
    faults = Faults(cluster)
    fault = faults.add("error", error=CODE, resource="alice")
    client = InMemoryClient(cluster, 1, faults)
    components = [{"entity_type": "user", "match_type": 0, "match": "alice"}]
    quotas = client.call("describe_client_quotas", 1, {"components": components, "strict": False})
    acls = client.call("describe_acls", 3, {**FILTER, "resource_name_filter": "alice"})
    topics = client.call("metadata", 12, {"topics": [{"name": "alice"}]})
    assert [quotas["error_code"], acls["error_code"], fault.hits] == [CODE, CODE, 2]
    assert CODE not in codes(topics)


def test_a_topic_by_its_id() -> None:
    """Requests that name the topic by its name are none of it."""
    cluster = a_cluster(brokers=1)
    create(cluster, "t")
    create(cluster, "other")
    faults = Faults(cluster)
    ids = {name: cluster.topics[name].id for name in ("t", "other")}
    fault = faults.add("error", error="INCONSISTENT_TOPIC_ID", topic_id=short_uuid(ids["t"]), api="Metadata")
    client = InMemoryClient(cluster, 1, faults)
    client.call("metadata", 12, {"topics": [{"name": "t"}]})
    assert fault.hits == 0
    assert f"none for the topic id {short_uuid(ids['t'])} (they named none)" in fault.why
    answer = client.call("metadata", 12, {"topics": [{"topic_id": each} for each in ids.values()]})
    told = {each["name"]: each["error_code"] for each in answer["topics"]}
    assert told == {"t": "INCONSISTENT_TOPIC_ID", "other": "NONE"}


def test_what_is_no_topic_id() -> None:
    faults = Faults(a_cluster(brokers=1))
    with pytest.raises(FaultError, match="topic_id is 'orders': give the 22 letters"):
        faults.add("error", error=CODE, topic_id="orders")
    with pytest.raises(FaultError, match="resource is 7: give a name"):
        faults.add("error", error=CODE, resource=7)
