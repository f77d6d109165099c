"""Who is told to be the controller, and who does what only the controller does."""

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.processes import Processes
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from mockbroker.protocol.messages.common import TopicPartitions
from mockbroker.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from mockbroker.protocol.messages.create_topics import CreatableTopic, CreateTopicsRequest
from mockbroker.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from mockbroker.protocol.messages.describe_cluster import DescribeClusterRequest
from mockbroker.protocol.messages.elect_leaders import ElectLeadersRequest
from mockbroker.protocol.messages.list_partition_reassignments import ListPartitionReassignmentsRequest
from mockbroker.protocol.messages.metadata import MetadataRequest

from ..driving.cluster import a_cluster, ask

ZOOKEEPER = ["0.11", "2.4", "2.8", "3.2"]
KRAFT = ["3.3", "3.9", "4.4"]
NOT_CONTROLLER = ErrorCode.NOT_CONTROLLER
ASKED = 20


def up(cluster: Cluster) -> list[int]:
    return [broker.id for broker in cluster.brokers.values() if broker.online]


def told(cluster: Cluster) -> set[int]:
    """Whom the live brokers name; each name must be in the same answer's list of brokers."""
    named = set()
    for broker in up(cluster):
        for _ in range(ASKED):
            answer = ask(cluster, MetadataRequest(topics=[]), version=2, broker=broker)
            assert answer.controller_id in [each.node_id for each in answer.brokers]
            named.add(answer.controller_id)
    return named


def creates(cluster: Cluster, broker: int, name: str) -> int:
    request = CreateTopicsRequest([CreatableTopic(name, 1, 1)])
    return int(ask(cluster, request, version=2, broker=broker).topics[0].error_code)


@pytest.mark.parametrize("release", [*ZOOKEEPER, *KRAFT])
@pytest.mark.parametrize("how", [Processes.stop, Processes.kill])
def test_the_controller_named_is_there_and_does_the_work(release: str, how: object) -> None:
    """Brokers go one after the other, until one is left; then all come back."""
    assert callable(how)
    cluster = a_cluster(release, brokers=3)
    for gone in (1, 3):
        how(cluster.processes, gone)
        cluster.advance(cluster.now_ms + 60_000)
        named = told(cluster)
        assert named <= set(up(cluster))
        assert {creates(cluster, each, f"t-{gone}-{each}") for each in named} == {0}
    for back in (1, 3):
        cluster.processes.start(back)
    assert (told(cluster) == {1, 2, 3}) == (release in KRAFT)


@pytest.mark.parametrize("release", ZOOKEEPER)
def test_the_others_refuse_what_only_the_controller_does(release: str) -> None:
    cluster = a_cluster(release, brokers=3)
    cluster.processes.stop(1)
    (active,) = told(cluster)
    for broker in up(cluster):
        assert creates(cluster, broker, f"t-{broker}") == (0 if broker == active else NOT_CONTROLLER)
    (other,) = set(up(cluster)) - {active}
    deleted = ask(
        cluster, DeleteTopicsRequest(topics=[DeleteTopicState(f"t-{active}")]), version=1, broker=other
    )
    assert [each.error_code for each in deleted.responses] == [NOT_CONTROLLER]
    assert f"t-{active}" in cluster.topics


@pytest.mark.parametrize("release", ["2.4", "2.8"])
def test_the_others_refuse_elections_and_moves_too(release: str) -> None:
    cluster = a_cluster(release, brokers=2)
    assert creates(cluster, 1, "t") == 0
    more = ask(cluster, CreatePartitionsRequest([CreatePartitionsTopic("t", 2)]), broker=2)
    assert [(each.name, each.error_code) for each in more.results] == [("t", NOT_CONTROLLER)]
    for topics in (None, [TopicPartitions("t", [0])]):
        elected = ask(cluster, ElectLeadersRequest(topic_partitions=topics), broker=2)
        (result,) = elected.replica_election_results
        assert (elected.error_code, result.topic) == (0, "t")
        assert [(each.partition_id, each.error_code) for each in result.partition_result] == [
            (0, NOT_CONTROLLER)
        ]
    move = ReassignableTopic("t", [ReassignablePartition(0, [2])])
    moved = ask(cluster, AlterPartitionReassignmentsRequest(topics=[move]), broker=2)
    assert (moved.error_code, moved.responses) == (NOT_CONTROLLER, [])
    listed = ask(cluster, ListPartitionReassignmentsRequest(), broker=2)
    assert listed.error_code == NOT_CONTROLLER
    assert listed.error_message == "This is not the correct controller for this cluster."


@pytest.mark.parametrize("release", KRAFT)
def test_with_kraft_every_broker_passes_requests_on(release: str) -> None:
    cluster = a_cluster(release, brokers=3)
    assert [creates(cluster, broker, f"t-{broker}") for broker in cluster.brokers] == [0, 0, 0]


def test_a_controller_that_died_is_named_until_its_session_is_over() -> None:
    cluster = a_cluster("2.3", brokers=3)
    cluster.processes.kill(1)
    cluster.advance(cluster.now_ms + 5_999)
    assert told(cluster) == {1}
    cluster.advance(cluster.now_ms + 1)
    assert told(cluster) < {2, 3}


def test_a_controller_that_is_cut_off_goes_on_naming_itself_and_refuses() -> None:
    cluster = a_cluster("2.3", brokers=3)
    cluster.network.cut_off(1, [2, 3], from_controller=True)
    cluster.advance(cluster.now_ms + 6_000)
    assert ask(cluster, MetadataRequest(topics=[]), version=2, broker=1).controller_id == 1
    (active,) = {
        ask(cluster, MetadataRequest(topics=[]), version=2, broker=each).controller_id for each in (2, 3)
    }
    assert active != 1
    assert creates(cluster, 1, "a") == NOT_CONTROLLER
    cluster.network.rejoin(1)
    assert told(cluster) == {active}


def test_the_only_broker_is_the_controller_after_its_restart() -> None:
    cluster = a_cluster("2.8", brokers=1)
    cluster.processes.stop(1)
    cluster.processes.start(1)
    assert told(cluster) == {1}


def test_asking_for_metadata_changes_no_other_draw() -> None:
    asked, not_asked = a_cluster("4.4"), a_cluster("4.4")
    assert told(asked) == {1, 2, 3}
    assert asked.environment.new_uuid() == not_asked.environment.new_uuid()


def test_the_draws_are_those_of_the_seed() -> None:
    def drawn() -> list[int]:
        cluster = a_cluster("4.4")
        return [ask(cluster, DescribeClusterRequest()).controller_id for _ in range(ASKED)]

    assert drawn() == drawn()
