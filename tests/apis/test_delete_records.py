"""DeleteRecords, as far as recorded answers don't say."""

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.controller import elections
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.replication.states import FollowerState

from ..driving.cluster import a_cluster, ask, create


def delete(cluster: Cluster, offset: int) -> tuple[ErrorCode, int]:
    """(error code, low watermark), as the leader answers."""
    request = DeleteRecordsRequest([DeleteRecordsTopic("t", [DeleteRecordsPartition(0, offset)])])
    result = ask(cluster, request, broker=cluster.topics["t"].partitions[0].leader).topics[0].partitions[0]
    return ErrorCode(result.error_code), result.low_watermark


@pytest.fixture
def cluster() -> Cluster:
    """Ten records in `t`, on all brokers."""
    cluster = a_cluster()
    create(cluster, "t", 1, 3)
    partition = cluster.topics["t"].partitions[0]
    for offset in range(0, 10, 5):
        batch = bytearray(61)
        batch[0:8] = offset.to_bytes(8, "big")
        batch[23:27] = (4).to_bytes(4, "big")
        partition.at_leader.append_as_leader(batch, offset, 5, 0)
    return cluster


def test_the_log_start_moves_on_every_replica(cluster: Cluster) -> None:
    assert delete(cluster, 7) == (ErrorCode.NONE, 7)
    partition = cluster.topics["t"].partitions[0]
    assert {log.start_offset for log in partition.logs.values()} == {7}
    assert delete(cluster, 3) == (ErrorCode.NONE, 7)
    assert delete(cluster, -1) == (ErrorCode.NONE, 10)


@pytest.mark.parametrize(
    ("moves", "after_ms", "expected"),
    [
        (False, 4_999, None),
        (False, 5_000, (ErrorCode.REQUEST_TIMED_OUT, 0)),
        (True, 0, (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)),
    ],
)
def test_a_follower_that_does_not_delete_is_waited_for(
    cluster: Cluster, moves: bool, after_ms: int, expected: tuple[ErrorCode, int] | None
) -> None:
    partition = cluster.topics["t"].partitions[0]
    partition.set_follower(partition.leader % 3 + 1, FollowerState.PAUSED)
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, 7)])
    asked = ask(cluster, DeleteRecordsRequest([topic], 5_000), broker=partition.leader)
    assert asked.parked
    if moves:
        assert elections.move_leader(partition)
    cluster.advance(cluster.now_ms + after_ms)
    assert asked.parked is (expected is None)
    if expected is not None:
        (result,) = asked.topics[0].partitions
        assert (ErrorCode(result.error_code), result.low_watermark) == expected
