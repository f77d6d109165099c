"""What has to be allowed for requests of share groups (KIP-932)."""

from typing import Any

import pytest

from mockbroker.acls.text import read
from mockbroker.rig.client import Client
from mockbroker.security import AUTHORIZER

from ..driving.cluster import a_cluster, create
from ..driving.in_memory import InMemoryClient

GROUP = {"group_id": "g", "member_id": "memberAAAAAAAAAAAAAAAA"}
NAMED = [{"topic_name": "t", "partitions": [{"partition_index": 0, "start_offset": 0}]}]
OFFSETS = {"groups": [{"group_id": "g", "topics": [{"topic_name": "t", "partitions": [0]}]}]}
STATES = {"group_id": "g", "topics": [{"partitions": [{"partition": 0}]}]}
READ_GROUP = "ANONYMOUS allow read on group:g"
CLUSTER = "ANONYMOUS allow cluster_action on cluster"
NOT_GROUP, NOT_TOPIC, NOT_CLUSTER = (f"{kind}_AUTHORIZATION_FAILED" for kind in ("GROUP", "TOPIC", "CLUSTER"))
CASES: list[tuple[str, dict[str, Any], list[str], str]] = [
    ("share_group_heartbeat", {**GROUP, "subscribed_topic_names": ["t"]}, [], NOT_GROUP),
    ("share_group_heartbeat", {**GROUP, "subscribed_topic_names": ["t"]}, [READ_GROUP], NOT_TOPIC),
    ("share_group_describe", {"group_ids": ["g"]}, [], NOT_GROUP),
    ("share_fetch", {**GROUP, "topics": []}, [], NOT_GROUP),
    ("share_fetch", {**GROUP, "topics": [{"partitions": [{"partition_index": 0}]}]}, [READ_GROUP], NOT_TOPIC),
    ("share_acknowledge", {**GROUP, "share_session_epoch": 1, "topics": []}, [], NOT_GROUP),
    ("describe_share_group_offsets", OFFSETS, [], NOT_GROUP),
    ("describe_share_group_offsets", OFFSETS, ["ANONYMOUS allow describe on group:g"], NOT_TOPIC),
    ("alter_share_group_offsets", {"group_id": "g", "topics": NAMED}, [], NOT_GROUP),
    ("alter_share_group_offsets", {"group_id": "g", "topics": NAMED}, [READ_GROUP], NOT_TOPIC),
    ("delete_share_group_offsets", {"group_id": "g", "topics": [{"topic_name": "t"}]}, [], NOT_GROUP),
    ("delete_share_group_offsets", {"group_id": "g", "topics": []}, [READ_GROUP], NOT_GROUP),
    ("initialize_share_group_state", STATES, [READ_GROUP], NOT_CLUSTER),
    ("read_share_group_state", STATES, [READ_GROUP], NOT_CLUSTER),
    ("write_share_group_state", STATES, [READ_GROUP], NOT_CLUSTER),
    ("delete_share_group_state", STATES, [READ_GROUP], NOT_CLUSTER),
    ("read_share_group_state_summary", STATES, [READ_GROUP], NOT_CLUSTER),
    ("read_share_group_state", STATES, [CLUSTER], "INVALID_REQUEST"),
    ("find_coordinator", {"key_type": 2, "coordinator_keys": ["wrong"]}, [READ_GROUP], NOT_CLUSTER),
    ("find_coordinator", {"key_type": 2, "coordinator_keys": ["wrong"]}, [CLUSTER], "INVALID_REQUEST"),
]


def _codes(value: Any) -> set[str]:
    if isinstance(value, list):
        return set().union(*map(_codes, value))
    if not isinstance(value, dict):
        return set()
    own = {each for name, each in value.items() if name == "error_code"}
    return own.union(*map(_codes, value.values()))


@pytest.mark.parametrize(("api", "fields", "acls", "error"), CASES)
def test_what_is_refused(api: str, fields: dict[str, Any], acls: list[str], error: str) -> None:
    cluster = a_cluster("4.4", brokers=1, authorizer_class_name=AUTHORIZER)
    create(cluster, "t")
    for text in acls:
        for acl in read(text):
            cluster.controller.create_acl(acl)
    topic_id = cluster.topics["t"].id
    if fields.get("topics") and "topic_name" not in fields["topics"][0]:
        fields = {**fields, "topics": [{"topic_id": topic_id, **each} for each in fields["topics"]]}
    client: Client = InMemoryClient(cluster, 1)
    version = client.api_versions()[api][1]
    assert _codes(client.call(api, version, fields)) - {"NONE"} == {error}
