"""DescribeLogDirs, as far as recorded answers don't say: they are of brokers with one folder."""

from typing import Any

import pytest

from mockbroker.apis.describe_log_dirs import VOLUME_BYTES
from mockbroker.protocol.messages.common import TopicPartitions
from mockbroker.protocol.messages.describe_log_dirs import DescribeLogDirsRequest
from mockbroker.replication.states import FollowerState

from ..driving.cluster import a_cluster, ask
from ..driving.partition import PartitionDriver


@pytest.mark.parametrize(
    ("config", "folders"),
    [
        ({}, ["/tmp/kafka-logs"]),
        ({"log_dir": "/data"}, ["/data"]),
        ({"log_dir": "/data", "log_dirs": "/a, /b,/a"}, ["/a", "/b"]),
    ],
)
@pytest.mark.parametrize("release", ["2.0", "4.4"])
def test_every_folder_is_told_and_all_logs_are_in_the_first(
    release: str, config: dict[str, Any], folders: list[str]
) -> None:
    cluster = a_cluster(release, 1, **config)
    cluster.create_topic("t", [[1], [1]])
    first, *others = ask(cluster, DescribeLogDirsRequest()).results
    assert [each.log_dir for each in (first, *others)] == folders
    assert [each.name for each in first.topics] == ["t"]
    assert not any(each.topics for each in others)


def test_a_follower_that_is_behind_has_less(driver: PartitionDriver) -> None:
    driver.produce(3)
    whole = driver.partition.log.size
    driver.partition.set_follower(2, FollowerState.PAUSED)
    driver.produce(3)
    used = {}
    for broker in (1, 2):
        (folder,) = ask(driver.cluster, DescribeLogDirsRequest(), broker=broker).results
        used[broker] = folder.topics[0].partitions[0].partition_size
        assert folder.total_bytes - folder.usable_bytes == used[broker]
        assert folder.total_bytes == VOLUME_BYTES
    assert used == {1: 2 * whole, 2: whole}


@pytest.mark.parametrize(
    ("cordoned", "told"), [("*", [True, True]), ("/b", [False, True]), ("", [False, False])]
)
def test_a_folder_takes_no_more_partitions(cordoned: str, told: list[bool]) -> None:
    cluster = a_cluster(brokers=1, log_dirs="/a,/b", cordoned_log_dirs=cordoned)
    assert [each.is_cordoned for each in ask(cluster, DescribeLogDirsRequest()).results] == told


@pytest.mark.parametrize(("release", "others"), [("2.5", []), ("2.6", ["b"]), ("3.6", ["b"]), ("3.7", [])])
def test_topics_that_were_not_asked_for(release: str, others: list[str]) -> None:
    """By `ReplicaManager.describeLogDirs` of 2.5 to 3.8; 3.7.2 was asked."""
    cluster = a_cluster(release, 2)
    for name, broker in (("a", 1), ("b", 1), ("elsewhere", 2)):
        cluster.create_topic(name, [[broker], [broker]])
    (folder,) = ask(cluster, DescribeLogDirsRequest([TopicPartitions("a", [1])])).results
    found = {each.name: [p.partition_index for p in each.partitions] for each in folder.topics}
    assert found == {"a": [1], **{name: [] for name in others}}
