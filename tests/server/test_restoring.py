"""Clusters that start with the offsets topic of a real one."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster, ReleaseName, unchecked
from mockbroker.dumps.offsets_files import read
from mockbroker.dumps.offsets_topic import OFFSETS
from mockbroker.errors import OptionError
from mockbroker.java_hash import positive_hash
from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.offsets_log import Commit, commit_key, commit_value
from mockbroker.protocol.record_batch import CONTROL, header_of, place, records

from ..driving.clients import raw_client
from ..dumps.recordings import HERE, PARTITIONS, PIPELINE, RELEASES, committed

LIMIT_S = 30.0
Read = dict[tuple[int, int], tuple[bytes | None, bytes | None]]


def in_files(path: Path) -> Read:
    """Key and value of each record, by partition and offset."""
    topic = read([path])
    return {
        (partition, each.offset): (each.key, each.value)
        for partition, log in topic.logs(topic.partition_count(None)).items()
        for segment in log
        for batch in segment.batches
        if not header_of(batch).attributes & CONTROL
        for each in records(batch)
    }


def consumed(cluster: MockCluster, topic: str, isolation_level: str = "read_uncommitted") -> Read:
    """What a consumer reads from the beginning of all partitions to their ends."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap_servers,
            "group.id": "reader",
            "auto.offset.reset": "error",
            "enable.partition.eof": True,
            "isolation.level": isolation_level,
            "check.crcs": True,
        }
    )
    found: Read = {}
    partitions = consumer.list_topics(topic, timeout=LIMIT_S).topics[topic].partitions
    left = set(partitions)
    starts = [consumer.get_watermark_offsets(TopicPartition(topic, each), LIMIT_S)[0] for each in partitions]
    consumer.assign([TopicPartition(topic, *each) for each in zip(partitions, starts, strict=True)])
    while left:
        message = consumer.poll(LIMIT_S)
        assert message is not None, f"nothing more from {left}"
        partition, offset = message.partition(), message.offset()
        assert partition is not None
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            left.discard(partition)
            continue
        assert offset is not None
        found[partition, offset] = message.key(), message.value()
    consumer.close()
    return found


@pytest.mark.parametrize("kafka", ["0.11", "2.3", "4.4"])
@pytest.mark.parametrize("release", RELEASES)
def test_a_consumer_reads_the_records_that_were_there(release: str, kafka: ReleaseName) -> None:
    with MockCluster(kafka=kafka, offsets=HERE / release / "data") as cluster:
        assert consumed(cluster, OFFSETS) == in_files(HERE / release / "data")
        for partition in range(PARTITIONS):
            ends = {each.log_end_offset for each in cluster.replicas(OFFSETS, partition)}
            assert len(ends) == 1


def test_another_leader_has_them_too() -> None:
    with MockCluster(offsets=str(HERE / "4.4.0" / "dump-log.txt")) as cluster:
        cluster.stop_broker(1)
        assert consumed(cluster, OFFSETS) == in_files(HERE / "4.4.0" / "data")


@pytest.mark.parametrize("release", RELEASES)
def test_a_transaction_stays_open(release: str) -> None:
    with MockCluster(offsets=HERE / release / "data") as cluster:
        uncommitted = consumed(cluster, OFFSETS)
        hidden = uncommitted.keys() - consumed(cluster, OFFSETS, "read_committed").keys()
        assert [uncommitted[each][0] for each in hidden] == [b"\0\1\0\6movers\0\5bills\0\0\0\1"]


def test_no_new_producer_gets_the_id_of_one_that_wrote_before() -> None:
    with MockCluster(offsets=HERE / "4.4.0" / "data") as cluster:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "later"})
        producer.init_transactions(LIMIT_S)
        logs = read([HERE / "4.4.0" / "data"]).logs(PARTITIONS).values()
        ids = {header_of(batch).producer_id for log in logs for segment in log for batch in segment.batches}
        assert max(ids) >= 0
        assert cluster.transaction("later").producer_id > max(ids)


# -- groups


@pytest.mark.parametrize("kafka", ["0.11", "2.3", "3.9", "4.4"])
@pytest.mark.parametrize("files", ["data", "dump-log.txt"])
@pytest.mark.parametrize("release", RELEASES)
def test_groups_are_answered_what_they_had_committed(release: str, files: str, kafka: ReleaseName) -> None:
    with MockCluster(kafka=kafka, offsets=HERE / release / files) as cluster:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        for group, expected in committed(release).items():
            asked = ConsumerGroupTopicPartitions(group, [TopicPartition(*each) for each in expected] or None)
            told = admin.list_consumer_group_offsets([asked])[group].result(LIMIT_S).topic_partitions
            assert {
                (each.topic, each.partition): (each.offset, each.metadata or "") for each in told
            } == expected


def test_a_consumer_goes_on_behind_the_offset_of_its_group() -> None:
    ends = {place: each.largest for place, each in read([HERE / "4.4.0" / "data"]).committed.items()}
    with MockCluster(offsets=HERE / "4.4.0" / "data") as cluster:
        config = {"bootstrap.servers": cluster.bootstrap_servers, "auto.offset.reset": "error"}
        consumer = Consumer({**config, "group.id": "shipping"})
        indexes = (0, 1)
        consumer.assign([TopicPartition("orders", index) for index in indexes])
        for index in indexes:
            cluster.produce("orders", f"new in {index}", partition=index)
        found: dict[int | None, int | None] = {}
        while len(found) < len(indexes):
            message = consumer.poll(LIMIT_S)
            assert message is not None
            assert not message.error(), message.error()
            found[message.partition()] = message.offset()
        # All records between the group's offset and the end of the log are gone.
        assert found == {index: ends["orders", index] for index in indexes}
        assert ends["orders", 0] > committed("4.4.0")["shipping"]["orders", 0][0]
        consumer.close()


@pytest.mark.parametrize("release", RELEASES)
def test_a_member_is_still_there_until_its_session_is_over(release: str) -> None:
    with MockCluster(offsets=HERE / release / "data", clock="manual") as cluster:
        (member,) = cluster.group("readers").members
        assert member.client_id == "rdkafka"
        assert cluster.group("readers").state == "Stable"
        cluster.clock.advance("46s")
        assert cluster.group("readers").members == ()
        assert cluster.committed("readers")["bills", 1].offset == 5


def test_a_consumer_that_joins_waits_for_members_until_their_sessions_are_over() -> None:
    with MockCluster(offsets=HERE / "4.4.0" / "data") as cluster:
        (before,) = cluster.group("readers").members
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "readers"})
        consumer.subscribe(["bills"])
        while cluster.group("readers").state != "PreparingRebalance":
            consumer.poll(0.1)
        cluster.clock.advance("1m")
        while not consumer.assignment():
            consumer.poll(0.1)
        (now,) = cluster.group("readers").members
        assert now.member_id != before.member_id
        consumer.close()


def test_old_offsets_do_not_expire_at_once_unless_it_is_later() -> None:
    path = PIPELINE / "3.9.2" / "console-offsets.txt"
    with MockCluster(offsets=path, clock="manual") as cluster:
        assert cluster.committed("readers")["orders", 0].offset == 10
        cluster.clock.advance("6d")
        assert cluster.committed("readers")
        cluster.clock.advance("2d")
        assert "readers" not in cluster.groups()


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("skips", ("NONE", 200)),
        ("stops", ("NONE", 100)),
        ("loads-nothing", ("NONE", -1)),
        ("fails", ("NOT_COORDINATOR", None)),
    ],
)
def test_a_load_that_stops_at_a_record_finds_the_offset_before_it(
    tmp_path: Path, answer: str, told: tuple[str, int | None]
) -> None:
    """As at LinkedIn in 2015: what follows a record that can't be parsed is not loaded."""
    folder = tmp_path / f"__consumer_offsets-{positive_hash('billing') % 50}"
    folder.mkdir()
    key = commit_key("billing", "orders", 0)
    values = [commit_value(Commit(each, 0, "", 1000), 3) for each in (100, 150, 200)]
    values[1] = b"\0\x63" + values[1][2:]  # version 99
    log = [key_values([(key, value)], 1000 + offset) for offset, value in enumerate(values)]
    for number, batch in enumerate(log):
        place(batch, number, 0)
    (folder / f"{0:020}.log").write_bytes(b"".join(log))
    policies = unchecked({"offsets-load": answer})
    with MockCluster(offsets=tmp_path, policies=policies, brokers=1) as cluster:
        assert _fetched(cluster, "billing") == told


def _fetched(cluster: MockCluster, group: str) -> tuple[str, int | None]:
    """What the only broker answers to OffsetFetch for orders-0, once it has loaded the group: the error, and
    the offset if there is an answer for the partition."""
    asked = {"group_id": group, "topics": [{"name": "orders", "partition_indexes": [0]}]}
    with raw_client(cluster) as client:
        while (told := client.call("offset_fetch", 5, asked))["error_code"] == "COORDINATOR_LOAD_IN_PROGRESS":
            pass
    offsets = [each["committed_offset"] for topic in told["topics"] for each in topic["partitions"]]
    return told["error_code"], next(iter(offsets), None)


# -- the topics that the offsets are of


@pytest.mark.parametrize("kafka", ["2.0", "2.3", "4.4"])
def test_every_committed_offset_is_valid(kafka: ReleaseName) -> None:
    with MockCluster(kafka=kafka, offsets=HERE / "3.9.2" / "data") as cluster:
        for offsets in committed("3.9.2").values():
            for (topic, partition), (offset, _) in offsets.items():
                consumer = Consumer(
                    {
                        "bootstrap.servers": cluster.bootstrap_servers,
                        "group.id": "anybody",
                        "auto.offset.reset": "error",
                    }
                )
                place = TopicPartition(topic, partition, offset)
                consumer.assign([place])
                cluster.produce(topic, f"after {offset}", partition=partition)
                message = consumer.poll(LIMIT_S)
                assert message is not None
                assert not message.error(), message.error()
                consumer.close()


def test_leader_epochs_of_committed_offsets_are_known() -> None:
    topic = read([HERE / "4.4.0" / "data"])
    with MockCluster(offsets=HERE / "4.4.0" / "data", brokers=1) as cluster, raw_client(cluster) as client:
        for (name, index), each in topic.committed.items():
            for epoch, offset in each.by_epoch.items():
                partition = {"partition": index, "current_leader_epoch": -1, "leader_epoch": epoch}
                asked = [{"topic": name, "partitions": [partition]}]
                told = client.call("offset_for_leader_epoch", 3, {"replica_id": -1, "topics": asked})
                (answer,) = told["topics"][0]["partitions"]
                assert (answer["error_code"], answer["leader_epoch"]) == ("NONE", epoch)
                assert answer["end_offset"] >= offset


def test_partitions_are_as_many_as_are_needed_or_given() -> None:
    with MockCluster(offsets=HERE / "4.4.0" / "data", topics={"orders": 8, "others": 2}) as cluster:
        found = {name: len(topic.partitions) for name, topic in cluster.topics().items()}
        assert found == {"orders": 8, "bills": 2, "others": 2}
        assert cluster.records("orders") == []


def test_topics_have_the_ids_that_were_committed() -> None:
    topic = read([PIPELINE / "4.3.1" / "__consumer_offsets-0"])
    assert topic.topic_ids
    with MockCluster(offsets=PIPELINE / "4.3.1" / "__consumer_offsets-0") as cluster:
        with raw_client(cluster) as client:
            found = client.call("metadata", 12, {"topics": None, "allow_auto_topic_creation": False})
        ids = {each["name"]: each["topic_id"].bytes for each in found["topics"]}
        assert topic.topic_ids.items() <= ids.items()


# -- time


def test_time_begins_at_the_last_record_unless_it_is_given() -> None:
    last_ms = read([HERE / "3.9.2" / "data"]).last_ms
    with MockCluster(offsets=HERE / "3.9.2" / "data", clock="manual") as cluster:
        assert cluster.clock.now_ms == last_ms
    with MockCluster(offsets=HERE / "3.9.2" / "data", clock="manual", now="2031-03-01T12:30:00Z") as cluster:
        assert cluster.clock.now_ms == 1_930_134_600_000


@pytest.mark.parametrize(
    "now",
    ["2031-03-01T12:30", "2031-03-01T13:30+01:00", "1930134600000", 1_930_134_600_000,
     datetime(2031, 3, 1, 12, 30), datetime(2031, 3, 1, 12, 30, tzinfo=UTC)],
)  # fmt: skip
def test_times_that_can_be_given(now: str | int | datetime) -> None:
    with MockCluster(now=now, clock="manual") as cluster:
        assert cluster.clock.now_ms == 1_930_134_600_000


@pytest.mark.parametrize("now", ["yesterday", -1, True, "", 1 << 62])
def test_times_that_can_not(now: str | int) -> None:
    with pytest.raises(OptionError, match="the cluster's time can't begin at"):
        MockCluster(now=now).start()


def test_clients_may_write_although_their_time_is_later() -> None:
    with MockCluster(offsets=PIPELINE / "3.9.2" / "console-offsets.txt", now="2020-01-01") as cluster:
        errors: list[object] = []
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
        producer.produce("orders", b"now", on_delivery=lambda error, _: errors.append(error))
        producer.flush(LIMIT_S)
        assert errors == [None]


# -- what is refused


def test_more_partitions_than_given() -> None:
    config = {"offsets.topic.num.partitions": "2"}
    with pytest.raises(OptionError, match="is 2, but there are records of __consumer_offsets-"):
        MockCluster(offsets=HERE / "3.9.2" / "data", config=config).start()


def test_a_file_of_another_kind() -> None:
    with pytest.raises(OptionError, match="shows nothing of the offsets topic"):
        MockCluster(offsets="README.md").start()
