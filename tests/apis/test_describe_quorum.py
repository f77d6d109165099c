"""DescribeQuorum, as far as recorded answers don't say: when brokers are behind, cut off or down."""

from mockbroker.cluster.cluster import Cluster
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.common import PartitionIndex
from mockbroker.protocol.messages.describe_quorum import AskedTopic, DescribeQuorumRequest, PartitionData

from ..driving.cluster import a_cluster, ask

ASKED = DescribeQuorumRequest([AskedTopic("__cluster_metadata", [PartitionIndex(0)])])


def described(cluster: Cluster, broker: int) -> PartitionData:
    answer = ask(cluster, ASKED, broker=broker)
    assert answer.error_code == 0
    (partition,) = answer.topics[0].partitions
    assert isinstance(partition, PartitionData)
    return partition


def observers(partition: PartitionData) -> dict[int, int]:
    """How far each is behind."""
    return {each.replica_id: partition.high_watermark - each.log_end_offset for each in partition.observers}


def test_an_observer_lags_whose_metadata_is_slow(cluster: Cluster) -> None:
    cluster.slow_metadata(3, 500)
    before = described(cluster, 1).high_watermark
    cluster.create_topic("t", [[1], [2]])
    partition = described(cluster, 1)
    written = partition.high_watermark - before
    assert written >= 3  # the topic and its partitions
    assert observers(partition) == {2: 0, 3: written}
    cluster.advance(cluster.now_ms + 500)
    assert observers(described(cluster, 1)) == {2: 0, 3: 0}


def test_brokers_that_the_controller_does_not_hear_are_no_observers(cluster: Cluster) -> None:
    cluster.network.cut_off(2, [], from_controller=True)
    assert set(observers(described(cluster, 1))) == {3}
    cluster.processes.stop(3)
    assert not observers(described(cluster, 1))
    cluster.processes.start(3)
    assert set(observers(described(cluster, 1))) == {3}


def test_a_controller_that_stops_is_followed_by_another_in_the_next_epoch(cluster: Cluster) -> None:
    before = described(cluster, 2)
    assert (before.leader_id, before.leader_epoch) == (1, 1)
    cluster.processes.stop(1)
    after = described(cluster, 2)
    assert after.leader_id in (2, 3)
    assert after.leader_epoch == 2
    (voter,) = after.current_voters
    assert voter.replica_id == after.leader_id
    assert set(observers(after)) == {2, 3} - {after.leader_id}


def test_without_a_controller_there_is_no_leader() -> None:
    cluster = a_cluster(brokers=2)
    for broker in (1, 2):
        cluster.network.cut_off(broker, [], from_controller=True)
    cluster.advance(cluster.now_ms + 60_000)
    assert described(cluster, 1).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
