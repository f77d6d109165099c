"""AlterPartitionReassignments (45): moves replicas (KIP-455)."""

from ..cluster import controller
from ..cluster.api_error import ApiError
from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from .registry import handles


@handles(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
def alter_partition_reassignments(
    call: Call, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """A reassignment is over when it is answered: new replicas copy the log on the spot."""
    return AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        responses=[
            ReassignableTopicResponse(
                topic.name,
                [
                    _alter(call, topic.name, p, request.allow_replication_factor_change)
                    for p in topic.partitions
                ],
            )
            for topic in request.topics
        ],
    )


def _alter(
    call: Call, topic: str, asked: ReassignablePartition, may_change_factor: bool
) -> ReassignablePartitionResponse:
    index = asked.partition_index
    partition = call.cluster.partition(topic, index)
    if partition is None:
        return ReassignablePartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if asked.replicas is None:
        return ReassignablePartitionResponse(index, ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    if not may_change_factor and len(asked.replicas) != len(partition.replicas):
        return ReassignablePartitionResponse(index, ErrorCode.INVALID_REPLICATION_FACTOR)
    try:
        controller.reassign(call.cluster, partition, asked.replicas)
    except ApiError as error:
        return ReassignablePartitionResponse(index, error.code, error.message)
    return ReassignablePartitionResponse(index)
