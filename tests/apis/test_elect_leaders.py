"""ElectLeaders for all partitions: the order is what Kafka 4.4.0 answered to the same requests."""

from mockbroker.cluster.cluster import Cluster
from mockbroker.controller import reassignments
from mockbroker.protocol.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from mockbroker.protocol.messages.elect_leaders import ElectLeadersRequest

from ..driving.cluster import ask, create


def test_all_topics_are_in_the_order_of_the_controllers_table(cluster: Cluster) -> None:
    everything = ElectLeadersRequest(topic_partitions=None)

    def topics() -> list[str]:
        return [each.topic for each in ask(cluster, everything).replica_election_results]

    for number in range(9):
        create(cluster, f"orders-{number}")
    assert topics() == [f"orders-{number}" for number in (6, 3, 8, 0, 5, 2, 7, 4, 1)]
    cluster.delete_topics([cluster.topics[f"orders-{number}"] for number in range(3, 9)])
    assert topics() == ["orders-0", "orders-2", "orders-1"]
    for name in ("billing", "customers", "a", "Aa", "BB", "AaAa", "BBBB", "AaBB", "BBAa"):
        create(cluster, name)
    later = ["BB", "Aa", "orders-0", "billing", "customers", "orders-2", "BBAa", "AaBB", "BBBB", "AaAa", "a"]
    assert topics() == [*later, "orders-1"]


def test_a_change_of_a_partition_makes_room_for_one_more(cluster: Cluster) -> None:
    topic = cluster.create_topic("many", [[1, 2]] * 10)
    for partition in topic.partitions:
        reassignments.begin(partition, [2, 1])
    [elected] = ask(cluster, ElectLeadersRequest(topic_partitions=None)).replica_election_results
    assert [each.partition_id for each in elected.partition_result] == [0, 5, 2, 7, 4, 9, 1, 6, 3, 8]


def test_new_partitions_have_as_many_replicas_as_the_first_in_the_table(cluster: Cluster) -> None:
    """Of five partitions that is no. 2 until one of them is changed, and then no. 0."""
    topic = cluster.create_topic("five", [[1, 2]] * 5)
    reassignments.begin(topic.partitions[2], [1])
    asked = CreatePartitionsTopic("five", 6, [CreatePartitionsAssignment([1, 2, 3])])
    [refused] = ask(cluster, CreatePartitionsRequest([asked], timeout_ms=1000)).results
    assert refused.error_message is not None
    assert refused.error_message.endswith("previous partitions, which have 2 replica(s).")
