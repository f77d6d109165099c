"""Groups are told of as their members and clients know them."""

import asyncio
import contextlib
import struct
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer
from aiokafka import TopicPartition as AioPartition
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker import CommittedOffset, MockCluster, NotThereError
from mockbroker.contents import groups
from mockbroker.log.log import Log
from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.offsets_log import commit_key
from mockbroker.protocol.record_batch import Batch
from mockbroker.replication.internal_append import append_own

from ..clients.kafka_python import KafkaConsumer, OffsetAndMetadata
from ..clients.kafka_python import TopicPartition as PythonPartition
from ..driving.groups import GroupDriver, replicated, subscription
from ..driving.real_clients import a_consumer


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with MockCluster(topics={"orders": 4}, brokers=3) as running:
        yield running


def described(driver: GroupDriver) -> tuple[str, str, set[tuple[str, str | None, str, str]]]:
    """What a broker answers of group `g`."""
    told = driver.describe()
    members = {
        (each.member_id, each.group_instance_id, each.client_id, each.client_host) for each in told.members
    }
    return told.group_state, told.protocol_type, members


def looked_at(driver: GroupDriver) -> tuple[str, str, set[tuple[str, str | None, str, str]]]:
    told = groups.describe(driver.cluster, groups.groups(driver.cluster)["g"])
    members = {(m.member_id, m.group_instance_id, m.client_id, m.host) for m in told.members}
    return told.state, told.protocol_type or "", members


@pytest.mark.parametrize("brokers", [1, 3])
@pytest.mark.parametrize("kafka", ["0.11", "2.8", "4.4"])
@pytest.mark.parametrize("client_id", ["", "c", "Ω/1"])
def test_every_state_is_told_as_brokers_describe_it(kafka: str, brokers: int, client_id: str) -> None:
    driver = GroupDriver(kafka, brokers=brokers)
    assert groups.groups(driver.cluster) == {}
    driver.commit({("orders", 0): 1}, version=3)
    seen = [looked_at(driver)]
    assert seen[0] == described(driver)
    first = driver.join(version=1, client_id=client_id)
    driver.advance(5000)
    seen.append(looked_at(driver))
    assert seen[-1] == described(driver)
    assert driver.sync(first, {first.member_id: b""}, version=0).error_code == 0
    seen.append(looked_at(driver))
    assert seen[-1] == described(driver)
    driver.join(version=1, client_id=client_id)
    seen.append(looked_at(driver))
    assert seen[-1] == described(driver)
    assert [state for state, _, _ in seen] == ["Empty", "CompletingRebalance", "Stable", "PreparingRebalance"]


def assignment(*, topic: str = "orders", indexes: tuple[int, ...] = (2, 0), version: int = 0) -> bytes:
    listed = struct.pack(f">{len(indexes)}i", *indexes)
    name = struct.pack(">h", len(topic)) + topic.encode()
    listed = struct.pack(">i", len(indexes)) + listed
    return struct.pack(">hi", version, 1) + name + listed + struct.pack(">i", -1)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (assignment(), (("orders", 0), ("orders", 2))),
        (assignment(version=3) + b"what version 9 has", (("orders", 0), ("orders", 2))),
        (assignment(indexes=()), ()),
        (b"", ()),
        (b"\0", None),
        (assignment()[:-8], None),
        (assignment(version=-1), None),
        (b"\0\0\x7f\xff\xff\xff", None),
    ],
)
@pytest.mark.parametrize("instance", [None, "static"])
def test_assignments_are_read_or_shown_as_they_are(
    driver: GroupDriver, data: bytes, told: tuple[Any, ...] | None, instance: str | None
) -> None:
    joined = driver.enter() if instance is None else driver.join(instance=instance)
    driver.advance(5000)
    how: dict[str, Any] = {} if instance is None else {"group_instance_id": instance}
    assert driver.sync(joined, {joined.member_id: data}, **how).error_code == 0
    [member] = groups.describe(driver.cluster, driver.group).members
    assert (member.assignment, member.assignment_data) == (told, data)
    assert (member.group_instance_id, member.subscription) == (instance, ("orders",))


def test_groups_of_other_kinds_have_no_partitions(driver: GroupDriver) -> None:
    protocols = {"sessioned": b"worker 1", "eager": subscription("orders")}
    joined = driver.enter(protocols=protocols, protocol_type="connect")
    driver.advance(5000)
    how: dict[str, Any] = {"protocol_type": "connect", "protocol_name": "sessioned"}
    assert driver.sync(joined, {joined.member_id: assignment()}, **how).error_code == 0
    told = groups.describe(driver.cluster, driver.group)
    assert (told.state, told.generation) == ("Stable", 1)
    assert (told.protocol_type, told.protocol) == ("connect", "sessioned")
    [member] = told.members
    assert (member.assignment, member.assignment_data, member.subscription) == (None, assignment(), None)
    assert told.leader == member.member_id


def test_commits_are_told_as_they_were_made(driver: GroupDriver) -> None:
    driver.commit({("orders", 2): 5, ("orders", 0): 7, ("payments", 0): 0}, metadata="on the way")
    now_ms = driver.now_ms
    driver.advance(1000)
    driver.commit({("orders", 0): 3}, version=4, retention_time_ms=60_000)
    assert groups.committed(driver.group) == {
        ("orders", 0): CommittedOffset(3, 7, "", now_ms + 1000, now_ms + 61_000),
        ("orders", 2): CommittedOffset(5, 7, "on the way", now_ms),
        ("payments", 0): CommittedOffset(0, 7, "on the way", now_ms),
    }
    assert list(groups.committed(driver.group)) == [("orders", 0), ("orders", 2), ("payments", 0)]


@contextlib.contextmanager
def in_librdkafka(bootstrap: str) -> Iterator[list[int]]:
    """Commits 9 for the first partition, with its assignment in hand."""
    conf = {"bootstrap.servers": bootstrap, "group.id": "billing", "client.id": "mine"}
    consumer = Consumer({**conf, "enable.auto.commit": False, "group.instance.id": "one"})
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.poll(0.05)
    consumer.commit(offsets=[TopicPartition("orders", 0, 9, metadata="so far")], asynchronous=False)
    try:
        yield [each.partition for each in consumer.assignment()]
    finally:
        consumer.close()


@contextlib.contextmanager
def in_kafka_python(bootstrap: str) -> Iterator[list[int]]:
    conf = {"bootstrap_servers": bootstrap, "group_id": "billing", "client_id": "mine"}
    consumer = KafkaConsumer("orders", **conf, enable_auto_commit=False, group_instance_id="one")
    assert consumer.partitions_for_topic("orders")
    while not consumer.assignment():
        consumer.poll(50)
    consumer.commit({PythonPartition("orders", 0): OffsetAndMetadata(9, "so far", -1)})
    try:
        yield [each.partition for each in consumer.assignment()]
    finally:
        consumer.close()


@contextlib.contextmanager
def in_aiokafka(bootstrap: str) -> Iterator[list[int]]:
    async def start() -> AIOKafkaConsumer:
        conf = {"bootstrap_servers": bootstrap, "group_id": "billing", "client_id": "mine"}
        consumer = AIOKafkaConsumer("orders", **conf, enable_auto_commit=False, group_instance_id="one")
        await consumer.start()
        await consumer.commit({AioPartition("orders", 0): (9, "so far")})
        return consumer

    with asyncio.Runner() as runner:
        consumer = runner.run(start())
        try:
            yield [each.partition for each in consumer.assignment()]
        finally:
            runner.run(consumer.stop())


@pytest.mark.parametrize("client", [in_librdkafka, in_kafka_python, in_aiokafka])
def test_what_real_consumers_do_is_told(
    cluster: MockCluster, client: Callable[[str], AbstractContextManager[list[int]]]
) -> None:
    with client(cluster.bootstrap_servers) as mine:
        told = cluster.group("billing")
        [member] = told.members
        assert (told.state, told.leader, told.protocol_type) == ("Stable", member.member_id, "consumer")
        assert (member.client_id, member.host, member.subscription) == ("mine", "/127.0.0.1", ("orders",))
        assert member.group_instance_id == "one"
        assert member.assignment == tuple(("orders", index) for index in sorted(mine))
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        [answer] = admin.describe_consumer_groups(["billing"]).values()
        described = answer.result(60)
        assert (described.coordinator.id, described.partition_assignor) == (told.coordinator, told.protocol)
        assert [(each.member_id, each.host) for each in described.members] == [
            (member.member_id, member.host)
        ]
        [committed] = cluster.committed("billing").items()
        assert (committed[0], committed[1].offset) == (("orders", 0), 9)
        # confluent-kafka sends the byte that ends a text in C too.
        assert committed[1].metadata.rstrip("\0") == "so far"


def test_a_group_is_there_while_its_coordinator_is_not() -> None:
    config = {"offsets.topic.replication.factor": "1"}
    with MockCluster(topics={"orders": 1}, config=config) as cluster:
        consumer = a_consumer(cluster, "billing")
        consumer.commit(offsets=[TopicPartition("orders", 0, 5)], asynchronous=False)
        consumer.close()
        before = cluster.group("billing")
        assert (before.state, before.protocol_type, before.members) == ("Empty", None, ())
        assert before.coordinator is not None
        cluster.stop_broker(before.coordinator)
        assert cluster.group("billing").coordinator is None
        assert list(cluster.groups()) == ["billing"]
        assert cluster.committed("billing")["orders", 0].offset == 5


def test_a_group_that_is_not_there_is_no_empty_answer(cluster: MockCluster) -> None:
    with pytest.raises(NotThereError, match="no group 'billing': nobody has joined a group or committed yet"):
        cluster.committed("billing")
    consumer = a_consumer(cluster, "billing")
    consumer.commit(offsets=[TopicPartition("orders", 0, 5)], asynchronous=False)
    consumer.close()
    for look in (cluster.committed, cluster.group):
        with pytest.raises(NotThereError, match="no group 'biling': did you mean 'billing'"):
            look("biling")


def test_looking_changes_nothing() -> None:
    driver = GroupDriver(brokers=3)
    topics = list(driver.cluster.topics)
    before = {name: set(vars(broker)) for name, broker in driver.cluster.brokers.items()}
    assert groups.groups(driver.cluster) == {}
    assert list(driver.cluster.topics) == topics
    assert {name: set(vars(broker)) for name, broker in driver.cluster.brokers.items()} == before


@pytest.fixture
def loading() -> GroupDriver:
    """A group with offsets in two partitions, whose coordinator loads slowly."""
    driver = replicated("3.9", {"offsets-load-pace": "slow"})
    for offset in range(20):
        driver.commit({("orders", offset % 2): offset})
    driver.move_coordinator()
    return driver


def log_of(driver: GroupDriver) -> Log:
    """The log that the coordinator loads."""
    partition = driver.cluster.offsets_partition("g").led
    assert partition is not None
    return partition.log


def seen(driver: GroupDriver) -> dict[int, int]:
    """The offsets of group `g` that somebody sees who looks now, by partition."""
    found = groups.committed(groups.groups(driver.cluster)["g"])
    return {partition: each.offset for (_, partition), each in found.items()}


def test_looks_during_a_load_read_each_batch_once(
    loading: GroupDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    batches_from = Log.batches_from

    def counted(log: Log, offset: int, count: int) -> list[Batch]:
        found = batches_from(log, offset, count)
        read.append(len(found))
        return found

    monkeypatch.setattr(Log, "batches_from", counted)
    assert seen(loading) == seen(loading) == {0: 18, 1: 19}
    assert sum(read) == len(log_of(loading).batches)


def test_looks_during_a_load_see_what_is_written_meanwhile(loading: GroupDriver) -> None:
    assert seen(loading) == {0: 18, 1: 19}
    partition = loading.cluster.offsets_partition("g").led
    assert partition is not None
    append_own(partition, key_values([(commit_key("g", "orders", 1), None)], loading.now_ms))
    assert seen(loading) == {0: 18}


def test_looks_during_a_load_forget_what_is_truncated(loading: GroupDriver) -> None:
    assert seen(loading) == {0: 18, 1: 19}
    for each in loading.cluster.offsets_partition("g").hosted:
        each.log.truncate(each.log.end_offset - 2)
    assert seen(loading) == {0: 16, 1: 17}


def test_looks_during_a_load_forget_what_is_below_the_log_start_offset(loading: GroupDriver) -> None:
    assert seen(loading) == {0: 18, 1: 19}
    for each in loading.cluster.offsets_partition("g").hosted:
        each.log.advance_start(each.log.end_offset - 1)
    assert seen(loading) == {1: 19}


def test_what_looks_have_read_is_dropped_once_the_load_ends(loading: GroupDriver) -> None:
    seen(loading)
    assert loading.cluster.written_groups
    loading.advance(60_000)
    assert seen(loading) == {0: 18, 1: 19}
    assert not loading.cluster.written_groups
