"""What has to be allowed for requests of streams groups (KIP-1071)."""

from typing import Any

import pytest

from mockbroker.acls.text import read
from mockbroker.security import AUTHORIZER

from ..driving.cluster import a_cluster, create
from ..driving.in_memory import InMemoryClient

TOPOLOGY = {
    "epoch": 0,
    "subtopologies": [
        {
            "subtopology_id": "0",
            "source_topics": ["t"],
            "repartition_sink_topics": ["r"],
            "state_changelog_topics": [{"name": "c"}],
        }
    ],
}
JOIN: dict[str, Any] = {
    "group_id": "g",
    "member_id": "m",
    "rebalance_timeout": 1000,
    "topology": TOPOLOGY,
    "process_id": "p",
    "active_tasks": [],
    "standby_tasks": [],
    "warmup_tasks": [],
}
READ_GROUP = "ANONYMOUS allow read on group:g"
TOPICS = [f"ANONYMOUS allow describe on topic:{each}" for each in "trc"]
CREATE = "ANONYMOUS allow create on topic:c"


def asked(api: str, fields: dict[str, Any], *acls: str) -> Any:
    cluster = a_cluster("4.4", brokers=1, authorizer_class_name=AUTHORIZER)
    create(cluster, "t")
    for text in acls:
        for acl in read(text):
            cluster.controller.create_acl(acl)
    client = InMemoryClient(cluster, 1)
    answer = client.call(api, client.api_versions()[api][1], fields)
    cluster.advance(cluster.now_ms + 1)
    return answer, "c" in cluster.topics


@pytest.mark.parametrize(
    ("acls", "error"),
    [
        ([], "GROUP_AUTHORIZATION_FAILED"),
        ([READ_GROUP], "TOPIC_AUTHORIZATION_FAILED"),
        ([READ_GROUP, *TOPICS[:2]], "TOPIC_AUTHORIZATION_FAILED"),
        ([READ_GROUP, *TOPICS], "NONE"),
    ],
)
def test_who_may_join(acls: list[str], error: str) -> None:
    answer, _ = asked("streams_group_heartbeat", JOIN, *acls)
    assert answer["error_code"] == error


def test_who_may_have_topics_created() -> None:
    answer, made = asked("streams_group_heartbeat", JOIN, READ_GROUP, *TOPICS)
    (status,) = [each["status_detail"] for each in answer["status"] if each["status_code"] == 3]
    assert status == "Internal topics are missing: c; Unauthorized to CREATE on topics c."
    assert not made
    _, made = asked("streams_group_heartbeat", JOIN, READ_GROUP, *TOPICS, CREATE)
    assert made


@pytest.mark.parametrize("api", ["streams_group_describe", "streams_group_topology_description_update"])
def test_other_requests(api: str) -> None:
    fields = {"group_ids": ["g"]} if api == "streams_group_describe" else {"group_id": "g"}
    answer, _ = asked(api, fields)
    code = answer["groups"][0]["error_code"] if "groups" in answer else answer["error_code"]
    assert code == "GROUP_AUTHORIZATION_FAILED"
