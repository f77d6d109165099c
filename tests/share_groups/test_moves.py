"""What share groups know survives if a coordinator or a leader moves, and locks end in the cluster's time."""

import pytest

from mockbroker.coordinators.share.group import ShareGroup

from ..driving.cluster import ask_for, configured
from ..driving.share_reader import CONFIG, TOPICS, Reader


@pytest.fixture
def reader() -> Reader:
    return Reader(configured("4.4", 3, None, CONFIG))


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_what_is_known_survives(reader: Reader, topic: str, how: str) -> None:
    reader.write(10)
    assert reader.fetch(0) == [(0, 9, 1)]
    reader.acknowledge(0, 3, 1)
    reader.acknowledge(4, 5, 2)
    cluster, before = reader.cluster, reader.leader(topic)
    members = cluster.brokers[reader.leader(TOPICS[0])].groups.groups["g"].members
    told = reader.beat()
    getattr(cluster.processes, how)(before)
    cluster.advance(cluster.now_ms + 40_000)
    assert reader.leader(topic) != before
    group = cluster.brokers[reader.leader(TOPICS[0])].groups.groups
    if topic == TOPICS[0]:
        loaded = group["g"]
        assert isinstance(loaded, ShareGroup)
        assert (loaded.epoch, loaded.state, loaded.members) == (told.member_epoch, "Stable", members)
        assert reader.beat().error_code == 0
    # Locks have ended meanwhile; what was acquired but never released was never written.
    assert [each[:2] for each in reader.fetch(0) or reader.fetch()] == [(4, 5), (6, 9)]


def test_locks_stay_where_the_same_broker_is_elected_again(reader: Reader) -> None:
    """It leads in a new epoch when another replica is removed."""
    reader.write(2)
    assert reader.fetch(0) == [(0, 1, 1)]
    partition = reader.cluster.topics["t"].partitions[0]
    leader, epoch = partition.leader, partition.leader_epoch
    others = [each for each in partition.replicas if each != leader]
    part = {"partition_index": 0, "replicas": [leader, others[0]]}
    topics = [{"name": "t", "partitions": [part]}]
    moved = ask_for(reader.cluster, "alter_partition_reassignments", 0, timeout=10_000, topics=topics)
    assert moved.response.error_code == 0
    reader.cluster.advance(reader.cluster.now_ms + 1_000)
    assert partition.leader == leader
    assert partition.leader_epoch > epoch
    assert reader.fetch() == []
    reader.acknowledge(0, 1, 1)


def test_locks_end_in_the_time_of_the_cluster(reader: Reader) -> None:
    reader.write(2)
    assert reader.fetch(0) == [(0, 1, 1)]
    reader.cluster.advance(reader.cluster.now_ms + 29_000)
    assert reader.fetch() == []
    reader.cluster.advance(reader.cluster.now_ms + 1_000)
    assert reader.fetch() == [(0, 1, 2)]


def test_sessions_are_dropped_of_members_that_wait(reader: Reader) -> None:
    """What is let go answers those that wait, even one whose session ends."""
    reader.write(2)
    assert reader.fetch(0) == [(0, 1, 1)]
    reader.wait()
    shares = reader.cluster.brokers[reader.leader("t")].shares
    shares.drop_sessions()
    assert shares.sessions.members() == []
