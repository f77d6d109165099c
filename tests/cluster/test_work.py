"""Requests that take long are done in parts: what happens between two of them, and when one fails."""

import random
from typing import Any

import pytest

from mockbroker.apis.registry import HANDLERS
from mockbroker.cluster.call import PARKED, Call, Client, Failed
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.work import AT_ONCE, Steps
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from mockbroker.protocol.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from mockbroker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.releases import parse

from ..driving import wire

TOPICS = 600


class Bench:
    def __init__(self, *, in_parts: bool = True, brokers: int = 1) -> None:
        self.cluster = Cluster(parse("4.4"), random.Random(0), brokers=brokers, now_ms=wire.NOW_MS)
        self.cluster.work.in_parts = in_parts
        self.later: list[Any] = []

    def call(self, version: int) -> Call:
        return Call(
            self.cluster.brokers[1], version, Client(), "test", lambda _, answer: self.later.append(answer)
        )

    def ask(self, key: ApiKey, version: int, request: Any) -> Any:
        return HANDLERS[key](self.call(version), request)

    def finish(self) -> Any:
        while self.cluster.work:
            self.cluster.work.go_on()
        [answer] = self.later
        return answer


def create(cluster: Cluster) -> list[str]:
    return [cluster.create_topic(f"t{number}", [[1]]).name for number in range(TOPICS)]


def metadata_of_many(bench: Bench) -> Any:
    names = [f"t{number}" for number in range(0, 2 * TOPICS, 2)]
    topics = [MetadataRequestTopic(name=name) for name in names]
    return bench.ask(ApiKey.METADATA, 8, MetadataRequest(topics=topics, allow_auto_topic_creation=True))


def configs_of_many(bench: Bench) -> Any:
    resources = [DescribeConfigsResource(2, f"t{number}", None) for number in range(80)]
    return bench.ask(ApiKey.DESCRIBE_CONFIGS, 4, DescribeConfigsRequest(resources))


def produce_to_many(bench: Bench) -> Any:
    records = memoryview(bytearray(wire.batch([b"x"])))
    topics = [
        TopicProduceData(None, [PartitionProduceData(0, memoryview(bytearray(records)))], f"t{number}")
        for number in range(TOPICS + 5)
    ]
    return bench.ask(ApiKey.PRODUCE, 9, ProduceRequest(None, -1, 1000, topics))


def create_many(bench: Bench) -> Any:
    topics = [CreatableTopic(f"new{number}", 1, 1) for number in range(TOPICS)]
    return bench.ask(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(topics))


MANY = pytest.mark.parametrize("ask", [metadata_of_many, configs_of_many, produce_to_many, create_many])


@MANY
def test_the_answer_is_the_same_at_once_and_in_parts(ask: Any) -> None:
    at_once, parts = Bench(in_parts=False), Bench()
    create(at_once.cluster), create(parts.cluster)
    expected = ask(at_once)
    assert ask(parts) is PARKED
    assert parts.finish() == expected
    assert not at_once.cluster.work


@MANY
def test_topics_that_go_between_two_parts_are_no_error(ask: Any) -> None:
    bench = Bench()
    create(bench.cluster)
    assert ask(bench) is PARKED
    bench.cluster.delete_topics([bench.cluster.topics[f"t{number}"] for number in range(40, TOPICS, 3)])
    answer = bench.finish()
    assert type(answer) is not Failed


def test_what_another_creates_between_two_parts_exists() -> None:
    bench = Bench()
    assert create_many(bench) is PARKED
    [taken, *_, last] = [
        name for name in (f"new{n}" for n in range(TOPICS)) if name not in bench.cluster.topics
    ]
    others = [CreatableTopic(name, 3, 1) for name in (taken, last)]
    theirs = bench.ask(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(others))
    assert [each.error_code for each in theirs.topics] == [ErrorCode.NONE] * 2
    answer = bench.finish()
    assert {each.name for each in answer.topics if each.error_code} == {taken, last}
    assert {each.error_code for each in answer.topics} == {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}
    assert len(bench.cluster.topics) == TOPICS
    assert len(bench.cluster.topics[taken].partitions) == 3


def test_topics_of_one_request_may_look_alike_but_not_like_those_of_another() -> None:
    bench = Bench()
    topics = [CreatableTopic(f"a.{n // 2}" if n % 2 else f"a_{n // 2}", 1, 1) for n in range(TOPICS)]
    assert bench.ask(ApiKey.CREATE_TOPICS, 7, CreateTopicsRequest(topics)) is PARKED
    last = TOPICS // 2 - 1
    bench.cluster.create_topic(f"a-{last}", [[1]])
    bench.cluster.create_topic(f"a_{last - 1}", [[1]])
    refused = {each.name: each.error_code for each in bench.finish().topics if each.error_code}
    assert refused == {
        f"a_{last - 1}": ErrorCode.TOPIC_ALREADY_EXISTS,
        f"a.{last - 1}": ErrorCode.INVALID_TOPIC_EXCEPTION,
    }


def test_the_configurations_of_a_new_topic_are_those_in_force_when_it_was_created() -> None:
    bench = Bench()
    assert create_many(bench) is PARKED
    bench.cluster.configs.cluster_wide["log.retention.ms"] = "7"
    bench.cluster.configs.changed()
    for each in bench.finish().topics:
        [told] = [config.value for config in each.configs if config.name == "retention.ms"]
        assert told == str(bench.cluster.topics[each.name].settings.retention_ms)


def test_two_requests_take_turns() -> None:
    bench = Bench()
    create(bench.cluster)
    configs_of_many(bench)
    metadata_of_many(bench)
    while len(bench.later) < 2:
        bench.cluster.work.go_on()
    first, second = (type(answer).__name__ for answer in bench.later)
    assert (first, second) == ("MetadataResponse", "DescribeConfigsResponse")


def test_an_error_in_a_part_ends_that_request_alone() -> None:
    bench = Bench()

    def failed(error: Exception, call: Call | None) -> None:
        assert call is not None
        call.sink(call, Failed(error))

    bench.cluster.failed = failed

    def steps(fails: bool) -> Steps:
        for _ in range(AT_ONCE + 5):
            yield
        if fails:
            raise ZeroDivisionError
        return "answer"

    for fails in (True, False):
        assert bench.cluster.work.begin(bench.call(0), steps(fails)) is PARKED
    while bench.cluster.work:
        bench.cluster.work.go_on()
    error, answer = bench.later
    assert type(error.error) is ZeroDivisionError
    assert answer == "answer"
