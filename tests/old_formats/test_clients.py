"""What clients of Kafka 0.9 write is read by themselves and by those of today, and the other way round."""

from collections.abc import Sequence

import pytest
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
)

from mockbroker import MockCluster, ReleaseName

from .. import needs
from .old_clients import NEW, OLD, Run

CODECS = ("none", "gzip", "snappy", "lz4")
LACKS = {"kafka-python": "lz4", "sarama": "lz4"}
"""The one needs another package for LZ4 as it was with magic 0, the other refuses it."""
VALUES = ("a", "bb" * 200, "c")


def written(run: Run, cluster: MockCluster, who: str, codecs: Sequence[str]) -> list[str]:
    """A topic for each codec, with the values."""
    topics = [f"{who}-{codec}" for codec in codecs]
    for topic in topics:
        cluster.create_topic(topic)
    values = ",".join(VALUES)
    told = run(cluster.bootstrap_servers, [f"write,{who}-{codec},{codec},{values}" for codec in codecs])
    assert told == [str(offset) for _ in codecs for offset in range(len(VALUES))]
    return topics


def read(run: Run, cluster: MockCluster, topics: Sequence[str], who: str) -> None:
    commands = [f"read,{topic},{who}-{topic},{len(VALUES)}" for topic in topics]
    expected = [f"{offset} {value}" for _ in topics for offset, value in enumerate(VALUES)]
    assert run(cluster.bootstrap_servers, commands) == expected
    for topic in topics:
        assert cluster.committed(f"{who}-{topic}")[topic, 0].offset == len(VALUES)


JAVA = pytest.mark.needs(*needs.JAVA)


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "kafka"),
    [
        pytest.param("java-0.9.0.1", "0.11", marks=JAVA),
        pytest.param("java-0.9.0.1", "3.9", marks=JAVA),
        pytest.param("sarama", "3.9", marks=pytest.mark.needs("go")),
        ("kafka-python", "3.9"),
        ("librdkafka", "3.9"),
    ],
)
def test_old_clients_and_those_of_today_read_each_other(old: str, kafka: ReleaseName) -> None:
    with MockCluster(kafka=kafka, brokers=1) as cluster:
        today = NEW["librdkafka-today"]
        codecs = [codec for codec in CODECS if codec != LACKS.get(old)]
        theirs = written(OLD[old], cluster, "old", codecs)
        ours = written(today, cluster, "new", codecs)
        read(OLD[old], cluster, [*theirs, *ours], "old")
        read(today, cluster, theirs, "new")


@pytest.mark.long
@pytest.mark.needs(*needs.JAVA)
@pytest.mark.parametrize("format_version", ["0.9.0", "0.10.2", "2.8"])
def test_javas_client_of_today_reads_all_formats(format_version: str) -> None:
    settings = {"log.message.format.version": format_version}
    with MockCluster(kafka="2.8", brokers=1, config=settings) as cluster:
        topics = written(OLD["librdkafka"], cluster, "old", CODECS)
        read(NEW["java-4.4"], cluster, topics, "new")


@pytest.mark.parametrize("kafka", ["2.3", "2.8"])
def test_clients_of_all_times_read_a_log_whose_format_changes(kafka: ReleaseName) -> None:
    old, today = OLD["kafka-python"], NEW["librdkafka-today"]
    with MockCluster(kafka=kafka, topics={"changing": 1}) as cluster:
        admin, servers = (
            AdminClient({"bootstrap.servers": cluster.bootstrap_servers}),
            cluster.bootstrap_servers,
        )
        expected: list[str] = []
        for release in ("0.10.2", "0.9.0", "0.10.0"):
            entry = ConfigEntry(
                "message.format.version", release, incremental_operation=AlterConfigOpType.SET
            )
            topic = ConfigResource("topic", "changing", incremental_configs=[entry])
            (altered,) = admin.incremental_alter_configs([topic]).values()
            altered.result(30)
            for run in (old, today):
                expected += [f"{offset} {release}" for offset in range(len(expected), len(expected) + 2)]
                told = run(servers, [f"write,changing,gzip,{release},{release}"])
                assert told == [each.split()[0] for each in expected[-2:]]
        stored = list(cluster.records("changing"))
        assert [f"{each.offset} {(each.value or b'').decode()}" for each in stored] == expected
        # A client of 0.9 knows no timestamps.
        with_time, without = [False, False, True, True], [False] * 4
        assert [each.timestamp_ms >= 0 for each in stored] == with_time + without + with_time
        for name, run in (("old", old), ("today", today)):
            assert run(servers, [f"read,changing,{name},{len(expected)}"]) == expected
        cluster.stop_broker(cluster.topic("changing").partitions[0].leader or 0)
        assert today(servers, [f"read,changing,later,{len(expected)}"]) == expected
