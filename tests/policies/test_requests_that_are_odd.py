"""Behaviours that show with requests which no usual client sends, by release and by name."""

import pytest

from mockbroker.controller import elections
from mockbroker.protocol.errors import ErrorCode, error_name
from mockbroker.protocol.messages.common import TopicPartitions
from mockbroker.protocol.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from mockbroker.protocol.messages.elect_leaders import ElectLeadersRequest
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from mockbroker.protocol.messages.sasl_handshake import SaslHandshakeRequest

from ..driving.cluster import a_cluster, ask
from ..driving.groups import GroupDriver
from ..driving.transactions import TransactionDriver

UNKNOWN = ErrorCode.UNKNOWN_SERVER_ERROR
NO_LEVEL = 9


@pytest.mark.parametrize(
    ("release", "policies", "records"),
    [("3.9", {}, None), ("4.0", {}, ()), ("4.0", {"failed-fetch-records": "null"}, None)],
)
def test_a_fetch_on_which_the_broker_fails(release: str, policies: dict[str, str], records: object) -> None:
    """3.9.2 and 4.0.0 were asked."""
    cluster = a_cluster(release, 1, policies)
    cluster.create_topic("t", [[1]])
    topics = [FetchTopic(None, [FetchPartition(0, -1, 0)], "t")]
    (topic,) = ask(cluster, FetchRequest(isolation_level=NO_LEVEL, topics=topics), 12).responses
    assert [(each.error_code, each.records) for each in topic.partitions] == [(UNKNOWN, records)]


@pytest.mark.parametrize(
    ("release", "policies", "debugger", "twice"),
    [
        ("3.9", {}, 0, ErrorCode.INVALID_REQUEST),
        ("4.0", {}, UNKNOWN, UNKNOWN),
        ("4.0", {"unknown-isolation-level": "fails-consumers"}, 0, ErrorCode.INVALID_REQUEST),
    ],
)
def test_offsets_are_listed_at_a_level_that_there_is_not(
    release: str, policies: dict[str, str], debugger: int, twice: int
) -> None:
    """3.9.2 and 4.0.0 were asked, with the replica ids -1 and -2."""
    cluster = a_cluster(release, 1, policies)
    cluster.create_topic("t", [[1]])

    def errors(replica: int, times: int) -> set[int]:
        topics = [ListOffsetsTopic("t", [ListOffsetsPartition(0, -1, -1)] * times)]
        (topic,) = ask(cluster, ListOffsetsRequest(replica, NO_LEVEL, topics), 7).topics
        return {each.error_code for each in topic.partitions}

    assert (errors(-1, 1), errors(-2, 1), errors(-1, 2)) == ({UNKNOWN}, {debugger}, {twice})


@pytest.mark.parametrize(
    ("release", "policies", "mechanisms"),
    [
        ("0.11", {}, ["GSSAPI"]),
        ("1.0", {}, ["GSSAPI"]),
        ("1.1", {}, []),
        ("4.4", {"refused-handshake": "mechanisms-told"}, ["GSSAPI"]),
    ],
)
def test_a_handshake_without_sasl(release: str, policies: dict[str, str], mechanisms: list[str]) -> None:
    """By `KafkaApis.handleSaslHandshakeRequest` of 1.0.1 and 1.1.0."""
    answer = ask(a_cluster(release, 1, policies), SaslHandshakeRequest("PLAIN"))
    assert (answer.error_code, answer.mechanisms) == (ErrorCode.ILLEGAL_SASL_STATE, mechanisms)


@pytest.mark.parametrize(
    ("release", "policies", "prefix"),
    [("3.0", {}, "null-"), ("3.1", {}, "-"), ("4.4", {"null-client-id": "null"}, "null-")],
)
def test_a_member_without_client_id(release: str, policies: dict[str, str], prefix: str) -> None:
    """3.0.2 and 3.1.2 were asked."""
    assert GroupDriver(release, policies).new_id(version=7, client_id=None).startswith(prefix)


@pytest.mark.parametrize(
    ("release", "policies", "kept"),
    [("3.9", {}, True), ("4.0", {}, False), ("4.4", {"not-coordinator-join": "member-id"}, True)],
)
def test_another_broker_coordinates(release: str, policies: dict[str, str], kept: bool) -> None:
    """By `GroupCoordinator.scala` of 3.8 and `GroupCoordinatorService.java` of 4.0; 4.4.0 was asked."""
    driver = GroupDriver(release, policies, brokers=3)
    member = driver.enter().member_id
    coordinator = driver.broker
    driver.move_coordinator()
    driver.broker = coordinator
    answer = driver.join(member)
    assert answer.error_code == ErrorCode.NOT_COORDINATOR
    assert answer.member_id == (member if kept else "")


@pytest.mark.parametrize(
    ("release", "policies", "state"),
    [("3.9", {}, "Empty"), ("4.0", {}, "Dead"), ("4.4", {"commit-of-nothing": "begins-group"}, "Empty")],
)
def test_a_commit_of_which_nothing_is_kept(release: str, policies: dict[str, str], state: str) -> None:
    """3.9.2 and 4.0.0 were asked."""
    driver = GroupDriver(release, policies)
    answer = driver.commit({("orders", 0): 5}, metadata="x" * 5000)
    assert answer == {("orders", 0): ErrorCode.OFFSET_METADATA_TOO_LARGE}
    assert driver.describe(5).group_state == state


BEGINS = {"refused-transactional-commit": "begins-group"}


@pytest.mark.parametrize(
    ("release", "policies", "error", "begins"),
    [
        ("3.1", {}, "UNKNOWN_MEMBER_ID", True),
        ("3.9", {}, "INVALID_TXN_STATE", True),
        ("4.0", {}, "INVALID_TXN_STATE", False),
        ("4.0", BEGINS, "INVALID_TXN_STATE", True),
        ("4.0", {"transaction-verification": "none"}, "ILLEGAL_GENERATION", False),
        ("4.0", {"transaction-verification": "none", **BEGINS}, "UNKNOWN_MEMBER_ID", True),
    ],
)
def test_offsets_that_are_refused(release: str, policies: dict[str, str], error: str, begins: bool) -> None:
    """3.1.2, 3.9.2 and 4.0.0 were asked."""
    driver = TransactionDriver(release, policies)
    assert driver.commit_offset(driver.init(), 5, version=3, generation=5, member="me") == error
    assert ("g" in driver.cluster.brokers[1].groups.groups) == begins


@pytest.mark.parametrize(
    ("release", "policies", "error"),
    [
        ("4.0", {}, "INVALID_PRODUCER_ID_MAPPING"),
        ("4.1", {}, "INVALID_PRODUCER_EPOCH"),
        ("4.1", {"stale-epoch-check": "coordinator-first"}, "INVALID_PRODUCER_ID_MAPPING"),
    ],
)
def test_an_old_epoch_under_an_unknown_transactional_id(
    release: str, policies: dict[str, str], error: str
) -> None:
    """4.0.0 and 4.1.0 were asked."""
    driver = TransactionDriver(release, policies)
    old = driver.begun()
    driver.end(old, commit=True)
    driver.end(driver.begun(), commit=True)
    assert driver.write(old, 3, transactional_id="nobody")[0] == error


@pytest.mark.parametrize(
    ("answer", "error"), [("producer-first", "PRODUCER_FENCED"), ("markers-first", "CONCURRENT_TRANSACTIONS")]
)
def test_another_epoch_while_markers_are_written(answer: str, error: str) -> None:
    driver = TransactionDriver("4.4", {"adding-during-markers": answer}, markers_delay_ms=50)
    producer = driver.begun()
    driver.end(producer, commit=True)
    assert driver.add(producer._replace(epoch=producer.epoch + 5)) == {0: error}


@pytest.mark.parametrize(
    ("release", "policies", "again"),
    [("3.9", {}, False), ("4.0", {}, True), ("4.3", {"failed-rebalance": "stuck"}, False)],
)
def test_a_member_comes_again_after_a_failed_rebalance(
    release: str, policies: dict[str, str], again: bool
) -> None:
    """By `GroupCoordinator.scala` of 3.8 and `GroupMetadataManager.java` of 4.0."""
    driver = GroupDriver(release, policies)
    (member,) = driver.stable(None)
    unreadable = b"\0\0" + (1 << 30).to_bytes(4, "big")
    assert driver.join(member.member_id, protocols={"range": unreadable}).error_code == UNKNOWN
    assert driver.join(member.member_id).parked is not again
    assert driver.state == ("CompletingRebalance" if again else "PreparingRebalance")


@pytest.mark.parametrize(
    ("release", "policies", "replicas"),
    [("3.2", {}, 1), ("3.3", {}, 2), ("4.4", {"replicas-of-new-partitions": "as-partition-0"}, 1)],
)
def test_partitions_are_added_where_replicas_differ(
    release: str, policies: dict[str, str], replicas: int
) -> None:
    """By `AdminZkClient.addPartitions` of 2.8 and `ReplicationControlManager.createPartitions` of 3.3."""
    cluster = a_cluster(release, 3, policies)
    topic = cluster.create_topic("t", [[1], [1], [2, 3]])
    request = CreatePartitionsRequest([CreatePartitionsTopic("t", 4, None)], timeout_ms=1000)
    (result,) = ask(cluster, request).results
    assert error_name(result.error_code) == "NONE"
    assert len(topic.partitions[3].replicas) == replicas


@pytest.mark.parametrize(
    ("release", "policies", "errors", "epoch"),
    [
        ("3.2", {}, [ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED], 2),
        ("4.4", {}, [ErrorCode.NONE, ErrorCode.NONE], 3),
        ("4.4", {"repeated-election": "once"}, [ErrorCode.NONE, ErrorCode.ELECTION_NOT_NEEDED], 2),
    ],
)
def test_a_partition_that_is_to_be_elected_a_leader_twice(
    release: str, policies: dict[str, str], errors: list[ErrorCode], epoch: int
) -> None:
    """4.4.0 was asked."""
    cluster = a_cluster(release, 2, policies)
    cluster.create_topic("t", [[1, 2]])
    partition = cluster.topics["t"].partitions[0]
    elections.move_leader(partition)
    answer = ask(cluster, ElectLeadersRequest(0, [TopicPartitions("t", [0, 0])], 1000))
    (topic,) = answer.replica_election_results
    assert [each.error_code for each in topic.partition_result] == errors
    assert (partition.leader, partition.leader_epoch) == (1, epoch)
