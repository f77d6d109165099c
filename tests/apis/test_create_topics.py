"""CreateTopics, CreatePartitions and DeleteTopics: what is checked, and what is left behind."""

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from mockbroker.protocol.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from mockbroker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from mockbroker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic

from ..driving.cluster import a_cluster, ask, create


def test_a_new_topic_has_the_defaults_of_the_brokers() -> None:
    cluster = a_cluster(num_partitions="4", default_replication_factor="2")
    made = create(cluster, "t", -1, -1)
    assert (made.error_code, made.num_partitions, made.replication_factor) == (ErrorCode.NONE, 4, 2)
    topic = cluster.topics["t"]
    assert topic.id == made.topic_id
    assert [len(partition.replicas) for partition in topic.partitions] == [2] * 4


def test_the_configurations_come_back_sorted_with_their_sources() -> None:
    made = create(a_cluster("3.9", log_retention_ms="7"), "t", cleanup_policy="compact")
    found = {each.name: (each.value, each.config_source) for each in made.configs}
    assert list(found) == sorted(found)
    assert found["cleanup.policy"] == ("compact", 1)
    assert found["retention.ms"] == ("7", 4)
    assert found["segment.bytes"] == ("1073741824", 5)


@pytest.mark.parametrize(
    ("name", "partitions", "factor", "code"),
    [
        ("", 1, 1, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("..", 1, 1, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("a b", 1, 1, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("x" * 250, 1, 1, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("there_is", 1, 1, ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("there.is", 1, 1, ErrorCode.TOPIC_ALREADY_EXISTS),
        ("__cluster_metadata", 1, 1, ErrorCode.INVALID_REQUEST),
        ("t", 0, 1, ErrorCode.INVALID_PARTITIONS),
        ("t", -2, 1, ErrorCode.INVALID_PARTITIONS),
        ("t", 10001, 1, ErrorCode.POLICY_VIOLATION),
        ("t", 1, 0, ErrorCode.INVALID_REPLICATION_FACTOR),
        ("t", 1, 4, ErrorCode.INVALID_REPLICATION_FACTOR),
        ("t", 0, 0, ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_what_cannot_be_created_is_refused(name: str, partitions: int, factor: int, code: ErrorCode) -> None:
    cluster = a_cluster()
    create(cluster, "there.is")
    assert create(cluster, name, partitions, factor).error_code == code
    assert list(cluster.topics) == ["there.is"]


@pytest.mark.parametrize("partitions", [[(0, [1, 2]), (1, [2, 3])], [(1, [1]), (0, [2])]])
def test_a_manual_assignment_is_kept(cluster: Cluster, partitions: list[tuple[int, list[int]]]) -> None:
    asked = CreatableTopic("t", -1, -1, [CreatableReplicaAssignment(*each) for each in partitions])
    assert ask(cluster, CreateTopicsRequest([asked])).topics[0].error_code == ErrorCode.NONE
    replicas = [partition.replicas for partition in cluster.topics["t"].partitions]
    assert replicas == [brokers for _, brokers in sorted(partitions)]


def test_fenced_brokers_are_chosen_last(cluster: Cluster) -> None:
    cluster.processes.stop(2)
    create(cluster, "t", 4, 2)
    create(cluster, "u", 4, 3)
    assert [each.replicas for each in cluster.topics["t"].partitions] == [[1, 3], [3, 1]] * 2
    assert [each.replicas[-1] for each in cluster.topics["u"].partitions] == [2] * 4


def test_replicas_on_fenced_brokers_alone_are_refused(cluster: Cluster) -> None:
    create(cluster, "t")
    cluster.processes.stop(2)
    asked = CreatableTopic("u", -1, -1, [CreatableReplicaAssignment(0, [2])])
    told = ask(cluster, CreateTopicsRequest([asked])).topics[0]
    assert told.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert told.error_message == (
        "All brokers specified in the manual partition assignment for partition 0 are fenced or in "
        "controlled shutdown."
    )
    more = CreatePartitionsTopic("t", 2, [CreatePartitionsAssignment([2])])
    refused = ask(cluster, CreatePartitionsRequest([more], 1000)).results[0]
    assert refused.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert "for partition 1 are fenced" in refused.error_message


def test_a_name_that_occurs_twice_is_not_created(cluster: Cluster) -> None:
    topics = [CreatableTopic("t", 1, 1), CreatableTopic("other", 1, 1), CreatableTopic("t", 2, 1)]
    answer = ask(cluster, CreateTopicsRequest(topics))
    assert {each.name: each.error_code for each in answer.topics} == {
        "other": ErrorCode.NONE,
        "t": ErrorCode.INVALID_REQUEST,
    }
    assert list(cluster.topics) == ["other"]


def test_partitions_are_added(cluster: Cluster) -> None:
    create(cluster, "t", 1, 3)

    def add(count: int, *replicas: list[int]) -> ErrorCode:
        assigned = [CreatePartitionsAssignment(each) for each in replicas] or None
        request = CreatePartitionsRequest([CreatePartitionsTopic("t", count, assigned)], 1000)
        return ErrorCode(ask(cluster, request).results[0].error_code)

    assert add(3) == ErrorCode.NONE
    assert add(3) == add(2) == ErrorCode.INVALID_PARTITIONS
    assert add(5, [1, 2, 3]) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert add(4, [1, 2]) == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert add(4, [3, 1, 2]) == ErrorCode.NONE
    partitions = cluster.topics["t"].partitions
    assert [each.index for each in partitions] == [0, 1, 2, 3]
    assert len({each.leader for each in partitions[:3]}) == 3
    assert partitions[3].leader == 3


@pytest.mark.parametrize(
    ("release", "code"),
    [("3.4", ErrorCode.NONE), ("3.5", ErrorCode.POLICY_VIOLATION), ("4.4", ErrorCode.POLICY_VIOLATION)],
)
def test_a_request_that_needs_more_than_ten_thousand_records_is_refused(
    release: str, code: ErrorCode
) -> None:
    cluster = a_cluster(release)
    for partitions, expected in ((9999, ErrorCode.NONE), (10_000, code)):
        request = CreateTopicsRequest([CreatableTopic("t", partitions, 1)], validate_only=True)
        assert ask(cluster, request).topics[0].error_code == expected


def test_topics_that_are_refused_take_no_room(cluster: Cluster) -> None:
    topics = [CreatableTopic("t", 9999, 1), CreatableTopic("u", 1, 9)]
    answer = ask(cluster, CreateTopicsRequest(topics, validate_only=True))
    assert [each.error_code for each in answer.topics] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_REPLICATION_FACTOR,
    ]


@pytest.mark.parametrize(("partitions", "made"), [("40", ["a", "b"]), ("5000", [])])
def test_metadata_creates_all_that_fit_together_or_none(partitions: str, made: list[str]) -> None:
    cluster = a_cluster(num_partitions=partitions)
    topics = [MetadataRequestTopic(name=name) for name in ("a", "b", "c d")]
    ask(cluster, MetadataRequest(topics=topics, allow_auto_topic_creation=True))
    assert list(cluster.topics) == made


@pytest.mark.parametrize(
    ("release", "code"), [("3.9", ErrorCode.UNKNOWN_SERVER_ERROR), ("4.4", ErrorCode.POLICY_VIOLATION)]
)
def test_too_many_new_partitions_are_refused(release: str, code: ErrorCode) -> None:
    cluster = a_cluster(release)
    create(cluster, "t")
    request = CreatePartitionsRequest([CreatePartitionsTopic("t", 20000, None)], 1000)
    assert ask(cluster, request).results[0].error_code == code


def test_topics_are_deleted_by_name_and_by_id(cluster: Cluster) -> None:
    ids = {name: create(cluster, name).topic_id for name in "abcd"}
    states = [
        DeleteTopicState("a"),
        DeleteTopicState(topic_id=ids["b"]),
        DeleteTopicState("c"),
        DeleteTopicState(topic_id=ids["c"]),
        DeleteTopicState("d", ids["d"]),
        DeleteTopicState("unknown"),
        DeleteTopicState(),
    ]
    answer = ask(cluster, DeleteTopicsRequest(states, 1000))
    assert {(each.name, each.error_code) for each in answer.responses} == {
        ("a", ErrorCode.NONE),
        ("b", ErrorCode.NONE),
        ("c", ErrorCode.INVALID_REQUEST),
        ("d", ErrorCode.INVALID_REQUEST),
        ("unknown", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (None, ErrorCode.INVALID_REQUEST),
    }
    assert set(cluster.topics) == {"c", "d"}


def test_no_time_to_delete_topics_matters_once_one_is_rightly_named(cluster: Cluster) -> None:
    wrong = DeleteTopicState("t", create(cluster, "t").topic_id)
    for states, code in (
        ([wrong], ErrorCode.INVALID_REQUEST),
        ([wrong, DeleteTopicState("unknown")], ErrorCode.REQUEST_TIMED_OUT),
    ):
        answer = ask(cluster, DeleteTopicsRequest(states, 0))
        assert [each.error_code for each in answer.responses] == [code] * len(states)


@pytest.mark.parametrize(
    ("version", "code"), [(2, ErrorCode.INVALID_REQUEST), (6, ErrorCode.TOPIC_DELETION_DISABLED)]
)
def test_deletion_can_be_turned_off(version: int, code: ErrorCode) -> None:
    cluster = a_cluster(delete_topic_enable="false")
    create(cluster, "t")
    answer = ask(cluster, DeleteTopicsRequest([DeleteTopicState("t")], 1000), version=version)
    assert answer.responses[0].error_code == code
    assert "t" in cluster.topics
