"""Requests that take long are done in parts: what happens between two of them, and when one fails."""

from typing import Any

import pytest

from mockbroker.cluster.call import Call
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.work import AT_ONCE
from mockbroker.environment import Owner
from mockbroker.outcome import PARKED, Client, Steps
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages import describe_producers, describe_topic_partitions
from mockbroker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from mockbroker.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from mockbroker.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from mockbroker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from mockbroker.protocol.messages.delete_groups import DeleteGroupsRequest
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from mockbroker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from mockbroker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from mockbroker.protocol.messages.describe_producers import DescribeProducersRequest
from mockbroker.protocol.messages.elect_leaders import ElectLeadersRequest
from mockbroker.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from mockbroker.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from mockbroker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from mockbroker.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from mockbroker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from ..driving import wire
from ..driving.cluster import Asked, ClusterDriver, a_cluster

TOPICS = 600
ALL = [f"t{number}" for number in range(TOPICS + 5)]
"""Five of them don't exist."""
UNKNOWN = [f"t{number}.unknown" for number in range(8 * TOPICS)]


class WorkDriver(ClusterDriver):
    def __init__(self, *, in_parts: bool = True, brokers: int = 1) -> None:
        super().__init__(a_cluster(brokers=brokers))
        self.cluster.work.in_parts = in_parts

    def finish(self, asked: Asked) -> Asked:
        """Goes on until it is answered."""
        while asked.parked:
            assert self.cluster.work
            self.cluster.work.go_on()
        return asked


def create(cluster: Cluster) -> list[str]:
    return [cluster.create_topic(f"t{number}", [[1]]).name for number in range(TOPICS)]


def metadata_of_many(driver: WorkDriver) -> Asked:
    names = [f"t{number}" for number in range(0, 2 * TOPICS, 2)]
    topics = [MetadataRequestTopic(name=name) for name in names]
    return driver.ask(MetadataRequest(topics=topics, allow_auto_topic_creation=True), 8)


def configs_of_many(driver: WorkDriver) -> Asked:
    resources = [DescribeConfigsResource(2, f"t{number}", None) for number in range(80)]
    return driver.ask(DescribeConfigsRequest(resources), 4)


def produce_to_many(driver: WorkDriver) -> Asked:
    records = memoryview(bytearray(wire.batch([b"x"])))
    topics = [
        TopicProduceData(None, [PartitionProduceData(0, memoryview(bytearray(records)))], f"t{number}")
        for number in range(TOPICS + 5)
    ]
    return driver.ask(ProduceRequest(None, -1, 1000, topics), 9)


def create_many(driver: WorkDriver) -> Asked:
    topics = [CreatableTopic(f"new{number}", 1, 1) for number in range(TOPICS)]
    return driver.ask(CreateTopicsRequest(topics), 7)


def epochs_of_many(driver: WorkDriver) -> Asked:
    asked = [OffsetForLeaderTopic(name, [OffsetForLeaderPartition(0, -1, 0)]) for name in ALL]
    return driver.ask(OffsetForLeaderEpochRequest(-1, asked), 4)


def offsets_of_many(driver: WorkDriver) -> Asked:
    topics = [ListOffsetsTopic(name, [ListOffsetsPartition(0, timestamp=-1)]) for name in ALL]
    return driver.ask(ListOffsetsRequest(-1, topics=topics), 7)


def delete_records_of_many(driver: WorkDriver) -> Asked:
    topics = [DeleteRecordsTopic(name, [DeleteRecordsPartition(0, -1)]) for name in ALL]
    return driver.ask(DeleteRecordsRequest(topics, 1000), 2)


def log_dirs(driver: WorkDriver) -> Asked:
    return driver.ask(DescribeLogDirsRequest(), 4)


def move_many(driver: WorkDriver) -> Asked:
    topics = [AlterReplicaLogDirTopic(name, [0]) for name in ALL]
    return driver.ask(AlterReplicaLogDirsRequest([AlterReplicaLogDir("/tmp/kafka-logs", topics)]), 2)


def producers_of_many(driver: WorkDriver) -> Asked:
    return driver.ask(
        DescribeProducersRequest([describe_producers.TopicRequest(name, [0]) for name in ALL]), 0
    )


def alter_many(driver: WorkDriver) -> Asked:
    change = [AlterableConfig("retention.ms", 0, "1000")]
    resources = [AlterConfigsResource(2, name, change) for name in ALL]
    return driver.ask(IncrementalAlterConfigsRequest(resources), 1)


def alter_broker(driver: WorkDriver) -> Asked:
    change = [AlterableConfig("log.retention.ms", 0, "1000")]
    return driver.ask(IncrementalAlterConfigsRequest([AlterConfigsResource(4, "", change)]), 1)


def add_to_many(driver: WorkDriver) -> Asked:
    topics = [CreatePartitionsTopic(name, 2, None) for name in ALL]
    return driver.ask(CreatePartitionsRequest(topics, 1000), 3)


def delete_many(driver: WorkDriver) -> Asked:
    """Many groups have offsets of them."""
    for number in range(2 * TOPICS):
        driver.ask(OffsetCommitRequest(f"group-{number}", topics=[commit_to(f"t{number % TOPICS}")]), 9)
    topics = [DeleteTopicState(name) for name in ALL]
    return driver.ask(DeleteTopicsRequest(topics, timeout_ms=1000), 6)


def reassign_many(driver: WorkDriver) -> Asked:
    topics = [ReassignableTopic(name, [ReassignablePartition(0, [1])]) for name in ALL]
    return driver.ask(AlterPartitionReassignmentsRequest(topics=topics), 0)


def elect_many(driver: WorkDriver) -> Asked:
    return driver.ask(ElectLeadersRequest(0, None), 2)


def pages_of_many(driver: WorkDriver) -> Asked:
    topics = [describe_topic_partitions.TopicRequest(name) for name in (*ALL, *UNKNOWN)]
    return driver.ask(describe_topic_partitions.DescribeTopicPartitionsRequest(topics), 0)


def groups_of_many(driver: WorkDriver) -> Asked:
    for name in ALL:
        driver.ask(OffsetCommitRequest(name, topics=[commit_to("t1")]), 9)
    return driver.ask(DeleteGroupsRequest([*ALL, "unknown"]), 2)


def commit_to(name: str) -> OffsetCommitRequestTopic:
    return OffsetCommitRequestTopic(None, [OffsetCommitRequestPartition(0, 1)], name)


MANY = pytest.mark.parametrize(
    "ask",
    [
        metadata_of_many,
        configs_of_many,
        produce_to_many,
        create_many,
        epochs_of_many,
        offsets_of_many,
        delete_records_of_many,
        log_dirs,
        move_many,
        producers_of_many,
        alter_many,
        alter_broker,
        add_to_many,
        delete_many,
        reassign_many,
        elect_many,
        pages_of_many,
        groups_of_many,
    ],
)


@MANY
def test_the_answer_is_the_same_at_once_and_in_parts(ask: Any) -> None:
    at_once, parts = WorkDriver(in_parts=False), WorkDriver()
    create(at_once.cluster), create(parts.cluster)
    expected, asked = ask(at_once), ask(parts)
    assert asked.parked
    assert parts.finish(asked).response == expected.response
    assert not at_once.cluster.work


@MANY
def test_topics_that_go_between_two_parts_are_no_error(driver: WorkDriver, ask: Any) -> None:
    create(driver.cluster)
    asked = ask(driver)
    assert asked.parked
    topics = driver.cluster.topics
    driver.cluster.delete_topics([topics[name] for name in ALL[40:TOPICS:3] if name in topics])
    assert not driver.finish(asked).parked


def test_what_another_creates_between_two_parts_exists(driver: WorkDriver) -> None:
    asked = create_many(driver)
    assert asked.parked
    [taken, *_, last] = [
        name for name in (f"new{n}" for n in range(TOPICS)) if name not in driver.cluster.topics
    ]
    others = [CreatableTopic(name, 3, 1) for name in (taken, last)]
    theirs = driver.ask(CreateTopicsRequest(others), 7)
    assert [each.error_code for each in theirs.topics] == [ErrorCode.NONE] * 2
    answer = driver.finish(asked)
    assert {each.name for each in answer.topics if each.error_code} == {taken, last}
    assert {each.error_code for each in answer.topics} == {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}
    assert len(driver.cluster.topics) == TOPICS
    assert len(driver.cluster.topics[taken].partitions) == 3


def test_topics_of_one_request_may_look_alike_but_not_like_those_of_another(driver: WorkDriver) -> None:
    topics = [CreatableTopic(f"a.{n // 2}" if n % 2 else f"a_{n // 2}", 1, 1) for n in range(TOPICS)]
    asked = driver.ask(CreateTopicsRequest(topics), 7)
    assert asked.parked
    last = TOPICS // 2 - 1
    driver.cluster.create_topic(f"a-{last}", [[1]])
    driver.cluster.create_topic(f"a_{last - 1}", [[1]])
    refused = {each.name: each.error_code for each in driver.finish(asked).topics if each.error_code}
    assert refused == {
        f"a_{last - 1}": ErrorCode.TOPIC_ALREADY_EXISTS,
        f"a.{last - 1}": ErrorCode.INVALID_TOPIC_EXCEPTION,
    }


def test_a_topic_that_two_requests_delete_is_deleted_by_one(driver: WorkDriver) -> None:
    create(driver.cluster)
    driver.cluster.work.at_once = 10
    some = [DeleteTopicState(name) for name in reversed(ALL[:TOPICS])]
    topics = [DeleteTopicState(name) for name in ALL]
    asked = [driver.ask(DeleteTopicsRequest(each, timeout_ms=1000), 6) for each in (topics, some)]
    codes = [{each.name: each.error_code for each in driver.finish(each).responses} for each in asked]
    for name in ALL[:TOPICS]:
        expected = {ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
        assert {each[name] for each in codes} == expected
    first = codes[0]
    assert (first[ALL[0]], first[ALL[TOPICS - 1]]) == (ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    assert not driver.cluster.topics


def test_a_partition_whose_leader_changes_between_two_parts_is_reassigned_as_it_is_then() -> None:
    driver = WorkDriver(brokers=3)
    names = [driver.cluster.create_topic(f"r{number}", [[1, 2]]).name for number in range(TOPICS)]
    topics = [ReassignableTopic(name, [ReassignablePartition(0, [1, 2, 3])]) for name in names]
    asked = driver.ask(AlterPartitionReassignmentsRequest(topics=topics), 0, broker=2)
    assert asked.parked
    driver.stop_broker(1)
    for topic in driver.finish(asked).responses:
        assert topic.partitions[0].error_code == ErrorCode.NONE
    for name in names:
        registered = driver.cluster.topics[name].partitions[0].registered
        assert (registered.leader, 1 in registered.isr) == (2, False)


def test_a_broker_that_is_killed_does_nothing_more(driver: WorkDriver) -> None:
    create(driver.cluster)
    driver.finish(produce_to_many(driver))
    asked = delete_records_of_many(driver)
    assert asked.parked
    starts = [topic.partitions[0].log.start_offset for topic in driver.cluster.topics.values()]
    assert {0, 1} == set(starts)
    driver.kill_broker(1)
    while driver.cluster.work:
        driver.cluster.work.go_on()
    assert asked.parked
    assert starts == [topic.partitions[0].log.start_offset for topic in driver.cluster.topics.values()]


def test_offsets_of_deleted_topics_are_forgotten_in_parts(driver: WorkDriver) -> None:
    create(driver.cluster)
    asked = delete_many(driver)
    groups = list(driver.cluster.brokers[1].groups.groups.values())
    assert any(group.offsets for group in groups)
    driver.finish(asked)
    assert not any(group.offsets for group in groups)


def test_the_configurations_of_a_new_topic_are_those_in_force_when_it_was_created(driver: WorkDriver) -> None:
    asked = create_many(driver)
    assert asked.parked
    driver.cluster.configs.cluster_wide["log.retention.ms"] = "7"
    driver.cluster.configs.changed()
    for each in driver.finish(asked).topics:
        [told] = [config.value for config in each.configs if config.name == "retention.ms"]
        assert told == str(driver.cluster.topics[each.name].settings.retention_ms)


def test_two_requests_take_turns(driver: WorkDriver) -> None:
    create(driver.cluster)
    configs, metadata = configs_of_many(driver), metadata_of_many(driver)
    driver.finish(metadata)
    assert configs.parked
    driver.finish(configs)


def test_an_error_in_a_part_ends_that_request_alone(driver: WorkDriver) -> None:
    later: list[Any] = []

    def failed(error: Exception, owner: Owner | None) -> None:
        assert owner is not None
        owner.ended_by(error)

    driver.cluster.environment.failed = failed

    def steps(fails: bool) -> Steps:
        for _ in range(AT_ONCE + 5):
            yield
        if fails:
            raise ZeroDivisionError
        return "answer"

    for fails in (True, False):
        call = Call(
            driver.cluster,
            driver.cluster.brokers[1],
            0,
            Client(),
            "test",
            lambda _, answer: later.append(answer),
        )
        assert driver.cluster.work.begin(call, steps(fails)) is PARKED
    while driver.cluster.work:
        driver.cluster.work.go_on()
    error, answer = later
    assert type(error.error) is ZeroDivisionError
    assert answer == "answer"
