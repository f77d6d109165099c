"""Requests that take long are done in parts: what happens between two of them, and when one fails."""

from typing import Any

import pytest

from mockbroker.cluster.call import Call
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.work import AT_ONCE
from mockbroker.environment import Owner
from mockbroker.outcome import PARKED, Client, Steps
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from mockbroker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from mockbroker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData

from ..driving import wire
from ..driving.cluster import Asked, ClusterDriver, a_cluster

TOPICS = 600


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


MANY = pytest.mark.parametrize("ask", [metadata_of_many, configs_of_many, produce_to_many, create_many])


@MANY
def test_the_answer_is_the_same_at_once_and_in_parts(ask: Any) -> None:
    at_once, parts = WorkDriver(in_parts=False), WorkDriver()
    create(at_once.cluster), create(parts.cluster)
    expected, asked = ask(at_once), ask(parts)
    assert asked.parked
    assert parts.finish(asked).response == expected.response
    assert not at_once.cluster.work


@MANY
def test_topics_that_go_between_two_parts_are_no_error(ask: Any) -> None:
    driver = WorkDriver()
    create(driver.cluster)
    asked = ask(driver)
    assert asked.parked
    driver.cluster.delete_topics([driver.cluster.topics[f"t{number}"] for number in range(40, TOPICS, 3)])
    assert not driver.finish(asked).parked


def test_what_another_creates_between_two_parts_exists() -> None:
    driver = WorkDriver()
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


def test_topics_of_one_request_may_look_alike_but_not_like_those_of_another() -> None:
    driver = WorkDriver()
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


def test_the_configurations_of_a_new_topic_are_those_in_force_when_it_was_created() -> None:
    driver = WorkDriver()
    asked = create_many(driver)
    assert asked.parked
    driver.cluster.configs.cluster_wide["log.retention.ms"] = "7"
    driver.cluster.configs.changed()
    for each in driver.finish(asked).topics:
        [told] = [config.value for config in each.configs if config.name == "retention.ms"]
        assert told == str(driver.cluster.topics[each.name].settings.retention_ms)


def test_two_requests_take_turns() -> None:
    driver = WorkDriver()
    create(driver.cluster)
    configs, metadata = configs_of_many(driver), metadata_of_many(driver)
    driver.finish(metadata)
    assert configs.parked
    driver.finish(configs)


def test_an_error_in_a_part_ends_that_request_alone() -> None:
    driver = WorkDriver()
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
