"""ListOffsets."""

import pytest

from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)

from ..driving.cluster import a_cluster, ask, create

CONSUMER, DEBUGGER, EARLIEST = -1, -2, -2


@pytest.mark.parametrize(
    ("replica_id", "expected"), [(CONSUMER, ErrorCode.NOT_LEADER_OR_FOLLOWER), (DEBUGGER, ErrorCode.NONE)]
)
def test_only_a_debugger_is_answered_by_followers(replica_id: int, expected: ErrorCode) -> None:
    cluster = a_cluster()
    create(cluster, "t", 1, 3)
    partition = cluster.topics["t"].partitions[0]
    topics = [ListOffsetsTopic("t", [ListOffsetsPartition(0, timestamp=EARLIEST)])]
    for broker in cluster.brokers:
        answer = ask(cluster, ListOffsetsRequest(replica_id, topics=topics), broker=broker)
        (found,) = answer.topics[0].partitions
        assert found.error_code == (ErrorCode.NONE if broker == partition.leader else expected)
