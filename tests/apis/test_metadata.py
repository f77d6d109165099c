"""Metadata, DescribeCluster and DescribeTopicPartitions."""

from typing import Any
from uuid import UUID

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.describe_cluster import DescribeClusterRequest
from mockbroker.protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from mockbroker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from ..driving.cluster import a_cluster, ask, create

UNKNOWN = UUID("11111111-2222-3333-4444-555555555555")


def topics(cluster: Cluster, *names: str, create_them: bool = False) -> dict[str, Any]:
    request = MetadataRequest([MetadataRequestTopic(name=name) for name in names], create_them)
    return {each.name: each for each in ask(cluster, request).topics}


def test_null_asks_for_all_topics_and_an_empty_list_for_none(cluster: Cluster) -> None:
    create(cluster, "a", 2, 3)
    create(cluster, "b")
    everything = ask(cluster, MetadataRequest(None))
    assert [(each.name, len(each.partitions)) for each in everything.topics] == [("a", 2), ("b", 1)]
    assert [each.node_id for each in everything.brokers] == [1, 2, 3]
    assert everything.cluster_id == cluster.cluster_id
    assert ask(cluster, MetadataRequest([])).topics == []


@pytest.mark.parametrize(
    ("release", "policies", "first"),
    [
        ("2.3", {}, ErrorCode.LEADER_NOT_AVAILABLE),
        ("4.4", {}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ("4.4", {"auto-created-topic": "created"}, ErrorCode.NONE),
    ],
)
def test_a_topic_is_created_when_it_is_asked_for(
    release: str, policies: dict[str, str], first: ErrorCode
) -> None:
    cluster = a_cluster(release, policies=policies)
    assert topics(cluster, "new", create_them=True)["new"].error_code == first
    assert topics(cluster, "new", create_them=True)["new"].error_code == ErrorCode.NONE


def test_no_topic_is_created_unless_request_and_broker_allow_it(cluster: Cluster) -> None:
    assert topics(cluster, "t")["t"].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    refusing = a_cluster(auto_create_topics_enable="false")
    assert topics(refusing, "t", create_them=True)["t"].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not cluster.topics
    assert not refusing.topics


def test_a_name_that_cannot_be_created_is_not(cluster: Cluster) -> None:
    create(cluster, "a.b")
    found = topics(cluster, "a_b", "a b", create_them=True)
    assert found["a_b"].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert found["a b"].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert list(cluster.topics) == ["a.b"]


def test_internal_topics_are_created_with_their_own_configuration() -> None:
    cluster = a_cluster(offsets_topic_num_partitions="3")
    topics(cluster, "__consumer_offsets", create_them=True)
    found = topics(cluster, "__consumer_offsets")["__consumer_offsets"]
    assert found.is_internal
    assert len(found.partitions) == 3
    assert cluster.topics["__consumer_offsets"].settings.compacted


def test_topic_ids_are_looked_up_and_names_beside_them_ignored(cluster: Cluster) -> None:
    known = create(cluster, "t").topic_id
    asked = [MetadataRequestTopic(known), MetadataRequestTopic(UNKNOWN), MetadataRequestTopic(name="t")]
    answer = ask(cluster, MetadataRequest(asked))
    assert [(each.name, each.error_code) for each in answer.topics] == [
        (None, ErrorCode.UNKNOWN_TOPIC_ID),
        ("t", ErrorCode.NONE),
    ]


def test_topic_ids_are_refused_before_v12(cluster: Cluster) -> None:
    asked = MetadataRequest([MetadataRequestTopic(create(cluster, "t").topic_id, "t")])
    answer = ask(cluster, asked, version=11)
    assert answer.topics[0].error_code == ErrorCode.INVALID_REQUEST
    assert answer.brokers == []


def test_without_an_authorizer_everything_is_allowed(cluster: Cluster) -> None:
    create(cluster, "t")
    request = MetadataRequest(None, include_topic_authorized_operations=True)
    assert ask(cluster, request).topics[0].topic_authorized_operations == 3576
    assert ask(cluster, DescribeClusterRequest(True)).cluster_authorized_operations == 8096


@pytest.mark.parametrize(
    ("kind", "code"),
    [(1, ErrorCode.NONE), (2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (7, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)],
)
def test_a_broker_describes_brokers_only(kind: int, code: ErrorCode) -> None:
    answer = ask(a_cluster(), DescribeClusterRequest(endpoint_type=kind))
    assert (answer.error_code, len(answer.brokers)) == (code, 3 if code == ErrorCode.NONE else 0)


def test_brokers_that_are_down_are_described_only_to_who_asks_for_them(cluster: Cluster) -> None:
    cluster.processes.stop(2)
    described, everything = (
        {each.broker_id: each.is_fenced for each in ask(cluster, request).brokers}
        for request in (DescribeClusterRequest(), DescribeClusterRequest(include_fenced_brokers=True))
    )
    assert described == {1: False, 3: False}
    assert everything == {1: False, 2: True, 3: False}


def pages(cluster: Cluster, limit: int, *names: str) -> list[list[tuple[str, int]]]:
    """(topic, partition) of every page, following the cursors."""
    found = []
    cursor = None
    while True:
        request = DescribeTopicPartitionsRequest([TopicRequest(name) for name in names], limit, cursor)
        answer = ask(cluster, request)
        found.append(
            [(topic.name, each.partition_index) for topic in answer.topics for each in topic.partitions]
        )
        cursor = answer.next_cursor
        if cursor is None:
            return found


def test_partitions_are_described_page_by_page_in_the_order_of_names(cluster: Cluster) -> None:
    for name, partitions in (("b", 3), ("c", 1), ("a", 2)):
        create(cluster, name, partitions)
    everything = [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2), ("c", 0)]
    assert pages(cluster, 100) == [everything]
    assert pages(cluster, 4) == [everything[:4], everything[4:]]
    assert pages(cluster, 0, "b", "a") == [[each] for each in everything[:5]]


def test_a_cursor_must_be_among_the_topics() -> None:
    request = DescribeTopicPartitionsRequest([TopicRequest("a")], 10, Cursor("b", 0))
    assert ask(a_cluster(), request).topics[0].error_code == ErrorCode.INVALID_REQUEST


def test_unknown_topics_are_named_when_asked_for() -> None:
    request = DescribeTopicPartitionsRequest([TopicRequest("zz"), TopicRequest("a b")])
    assert [(each.name, each.error_code) for each in ask(a_cluster(), request).topics] == [
        ("a b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("zz", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ]
