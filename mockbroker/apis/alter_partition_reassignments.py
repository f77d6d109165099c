"""AlterPartitionReassignments (45): moves replicas (KIP-455)."""

from ..cluster import reassignments, topic_creation
from ..cluster.call import Call
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from .default_messages import default_message
from .registry import handles


@handles(ApiKey.ALTER_PARTITION_REASSIGNMENTS)
def alter_partition_reassignments(
    call: Call, request: AlterPartitionReassignmentsRequest
) -> AlterPartitionReassignmentsResponse:
    """Each partition succeeds or fails by itself. New replicas that are well copy the log on the spot."""
    may_change_factor = request.allow_replication_factor_change
    answer = AlterPartitionReassignmentsResponse()
    if call.cluster.active_controller.refuses(call.broker):
        answer.error_code = ErrorCode.NOT_CONTROLLER
        answer.error_message = default_message(ErrorCode.NOT_CONTROLLER)
        return answer
    if not request.topics:
        answer.error_message = ""
    elif request.timeout_ms <= 0:
        # The controller's deadline has passed when it takes up the request.
        answer.error_code = ErrorCode.REQUEST_TIMED_OUT
    else:
        answer.allow_replication_factor_change = may_change_factor
    for topic in request.topics:
        results = ReassignableTopicResponse(topic.name)
        answer.responses.append(results)
        for asked in topic.partitions:
            result = ReassignablePartitionResponse(asked.partition_index, answer.error_code)
            results.partitions.append(result)
            try:
                if not answer.error_code:
                    _alter(call, topic.name, asked, may_change_factor)
            except ApiError as error:
                result.error_code, result.error_message = error.code, error.message
    return answer


def _alter(call: Call, topic: str, asked: ReassignablePartition, may_change_factor: bool) -> None:
    """ApiError, in the controller's order of checks (`ReplicationControlManager.java`)."""
    cluster, index = call.cluster, asked.partition_index
    partition = cluster.partition(topic, index)
    if partition is None:
        missing = f"partition {topic}:{index}" if topic in cluster.topics else f"a topic named {topic}"
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find {missing}.")
    if asked.replicas is None:
        reassignments.cancel(partition)
        return
    topic_creation.check_brokers(cluster, asked.replicas)
    before, after = reassignments.replication_factor(partition), len(asked.replicas)
    if not may_change_factor and before != after:
        message = f"The replication factor is changed from {before} to {after}"
        raise ApiError(ErrorCode.INVALID_REPLICATION_FACTOR, message)
    reassignments.begin(partition, asked.replicas)
