"""Requests that take long are done in parts: what happens between two of them, and when one fails."""

from typing import Any

import pytest

from mockbroker.cluster.call import Call
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.work import AT_ONCE
from mockbroker.environment import Owner
from mockbroker.outcome import PARKED, Client, Steps
from mockbroker.protocol.errors import ErrorCode

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


def all_named(**more: Any) -> list[dict[str, Any]]:
    return [{"name": name, **more} for name in ALL]


def configured(kind: int, names: list[str], config: str) -> list[dict[str, Any]]:
    change = {"name": config, "value": "1000"}
    return [{"resource_type": kind, "resource_name": name, "configs": [change]} for name in names]


def asking(version: int, **fields: Any) -> tuple[int, dict[str, Any]]:
    return version, fields


TOPIC, BROKER = 2, 4
RECORDS = [{"index": 0, "records": wire.batch([b"x"])}]
OF_EPOCH = [{"partition": 0, "current_leader_epoch": -1}]
LATEST = [{"partition_index": 0, "timestamp": -1}]
EVERYTHING = [{"partition_index": 0, "offset": -1}]
MOVED = [{"partition_index": 0, "replicas": (1,)}]
NEW = [{"name": f"new{number}", "num_partitions": 1, "replication_factor": 1} for number in range(TOPICS)]
SECOND = [{"name": f"t{number}"} for number in range(0, 2 * TOPICS, 2)]
DESCRIBED = [{"resource_type": TOPIC, "resource_name": name} for name in ALL[:80]]
MANY = {
    "metadata": asking(8, topics=SECOND, allow_auto_topic_creation=True),
    "describe_configs": asking(4, resources=DESCRIBED),
    "produce": asking(9, acks=-1, timeout=1000, topic_data=all_named(partition_data=RECORDS)),
    "create_topics": asking(7, topics=NEW),
    "offset_for_leader_epoch": asking(
        4, replica_id=-1, topics=[{"topic": name, "partitions": OF_EPOCH} for name in ALL]
    ),
    "list_offsets": asking(7, replica_id=-1, topics=all_named(partitions=LATEST)),
    "delete_records": asking(2, topics=all_named(partitions=EVERYTHING), timeout=1000),
    "describe_log_dirs": asking(4, topics=None),
    "alter_replica_log_dirs": asking(
        2, dirs=[{"path": "/tmp/kafka-logs", "topics": all_named(partitions=(0,))}]
    ),
    "describe_producers": asking(0, topics=all_named(partition_indexes=(0,))),
    "incremental_alter_configs": asking(1, resources=configured(TOPIC, ALL, "retention.ms")),
    "incremental_alter_configs of the brokers": asking(
        1, resources=configured(BROKER, [""], "log.retention.ms")
    ),
    "create_partitions": asking(3, topics=all_named(count=2), timeout=1000),
    "delete_topics": asking(6, topics=all_named(), timeout=1000),
    "alter_partition_reassignments": asking(0, topics=all_named(partitions=MOVED)),
    "elect_leaders": asking(2, topic_partitions=None),
    "describe_topic_partitions": asking(
        0, topics=[{"name": name} for name in (*ALL, *UNKNOWN)], response_partition_limit=2000
    ),
    "delete_groups": asking(2, groups_names=(*ALL, "unknown")),
}
"""Requests that name many things, by their API: version and fields."""


def ask_many(driver: WorkDriver, name: str) -> Asked:
    if name == "delete_topics":
        for number in range(2 * TOPICS):
            commit(driver, f"group-{number}", f"t{number % TOPICS}")
    elif name == "delete_groups":
        for group in ALL:
            commit(driver, group, "t1")
    version, fields = MANY[name]
    return driver.ask_for(name.partition(" ")[0], version, **fields)


def commit(driver: WorkDriver, group: str, topic: str) -> None:
    topics = [{"name": topic, "partitions": [{"partition_index": 0, "committed_offset": 1}]}]
    driver.ask_for("offset_commit", 9, group_id=group, generation_id_or_member_epoch=-1, topics=topics)


@pytest.mark.parametrize("name", MANY)
def test_the_answer_is_the_same_at_once_and_in_parts(name: str) -> None:
    at_once, parts = WorkDriver(in_parts=False), WorkDriver()
    create(at_once.cluster), create(parts.cluster)
    expected, asked = ask_many(at_once, name), ask_many(parts, name)
    assert asked.parked
    assert parts.finish(asked).response == expected.response
    assert not at_once.cluster.work


@pytest.mark.parametrize("name", MANY)
def test_topics_that_go_between_two_parts_are_no_error(driver: WorkDriver, name: str) -> None:
    create(driver.cluster)
    asked = ask_many(driver, name)
    assert asked.parked
    topics = driver.cluster.topics
    driver.cluster.delete_topics([topics[name] for name in ALL[40:TOPICS:3] if name in topics])
    assert not driver.finish(asked).parked


def test_what_another_creates_between_two_parts_exists(driver: WorkDriver) -> None:
    asked = ask_many(driver, "create_topics")
    assert asked.parked
    [taken, *_, last] = [
        name for name in (f"new{n}" for n in range(TOPICS)) if name not in driver.cluster.topics
    ]
    others = [{"name": name, "num_partitions": 3, "replication_factor": 1} for name in (taken, last)]
    theirs = driver.ask_for("create_topics", 7, topics=others)
    assert [each.error_code for each in theirs.topics] == [ErrorCode.NONE] * 2
    answer = driver.finish(asked)
    assert {each.name for each in answer.topics if each.error_code} == {taken, last}
    assert {each.error_code for each in answer.topics} == {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}
    assert len(driver.cluster.topics) == TOPICS
    assert len(driver.cluster.topics[taken].partitions) == 3


def test_topics_of_one_request_may_look_alike_but_not_like_those_of_another(driver: WorkDriver) -> None:
    names = [f"a.{n // 2}" if n % 2 else f"a_{n // 2}" for n in range(TOPICS)]
    topics = [{"name": name, "num_partitions": 1, "replication_factor": 1} for name in names]
    asked = driver.ask_for("create_topics", 7, topics=topics)
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
    some = [{"name": name} for name in reversed(ALL[:TOPICS])]
    asked = [driver.ask_for("delete_topics", 6, topics=each, timeout=1000) for each in (all_named(), some)]
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
    partitions = [{"partition_index": 0, "replicas": (1, 2, 3)}]
    topics = [{"name": name, "partitions": partitions} for name in names]
    asked = driver.ask_for("alter_partition_reassignments", 0, broker=2, topics=topics)
    assert asked.parked
    driver.stop_broker(1)
    for topic in driver.finish(asked).responses:
        assert topic.partitions[0].error_code == ErrorCode.NONE
    for name in names:
        registered = driver.cluster.topics[name].partitions[0].registered
        assert (registered.leader, 1 in registered.isr) == (2, False)


def test_a_broker_that_is_killed_does_nothing_more(driver: WorkDriver) -> None:
    create(driver.cluster)
    driver.finish(ask_many(driver, "produce"))
    asked = ask_many(driver, "delete_records")
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
    asked = ask_many(driver, "delete_topics")
    groups = list(driver.cluster.brokers[1].groups.groups.values())
    assert any(group.offsets for group in groups)
    driver.finish(asked)
    assert not any(group.offsets for group in groups)


def test_the_configurations_of_a_new_topic_are_those_in_force_when_it_was_created(driver: WorkDriver) -> None:
    asked = ask_many(driver, "create_topics")
    assert asked.parked
    driver.cluster.configs.cluster_wide["log.retention.ms"] = "7"
    driver.cluster.configs.changed()
    for each in driver.finish(asked).topics:
        [told] = [config.value for config in each.configs if config.name == "retention.ms"]
        assert told == str(driver.cluster.topics[each.name].settings.retention_ms)


def test_two_requests_take_turns(driver: WorkDriver) -> None:
    create(driver.cluster)
    configs, metadata = ask_many(driver, "describe_configs"), ask_many(driver, "metadata")
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
        broker = driver.cluster.brokers[1]
        call = Call(driver.cluster, broker, 0, Client(), "test", lambda _, answer: later.append(answer))
        assert driver.cluster.work.begin(call, steps(fails)) is PARKED
    while driver.cluster.work:
        driver.cluster.work.go_on()
    error, answer = later
    assert type(error.error) is ZeroDivisionError
    assert answer == "answer"
