"""ListPartitionReassignments (46): reassignments in progress (KIP-455)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..cluster.call import Call
from ..controller import reassignments
from ..outcome import Steps
from ..policies.controller.reassignment_refusal import reassignment_refusal
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from .registry import handles

if TYPE_CHECKING:
    from ..cluster.topic import TopicPartition


@handles(
    ApiKey.LIST_PARTITION_REASSIGNMENTS,
    changes=False,
    source="ControllerApis.handleListPartitionReassignments, ForwardingManager; KafkaController before 4.0",
    top_retry="NOT_CONTROLLER, REQUEST_TIMED_OUT",
    top="CLUSTER_AUTHORIZATION_FAILED",
)
def list_partition_reassignments(call: Call, request: ListPartitionReassignmentsRequest) -> Steps:
    """Those of all topics, or of those that are named. Unknown topics and partitions are left out."""
    if call.broker.is_not_controller:
        error = ErrorCode.NOT_CONTROLLER
        return ListPartitionReassignmentsResponse(error_code=error, error_message=default_message(error))
    answer = ListPartitionReassignmentsResponse(
        error_message="" if call.policies[reassignment_refusal] == "dead-brokers" else None
    )
    for portion in portions(_asked(call, request)):
        for result, partition in portion:
            if partition is not None and reassignments.under_way(partition):
                if not result.partitions:
                    answer.topics.append(result)
                result.partitions.append(_described(partition))
        yield
    return answer


def _asked(
    call: Call, request: ListPartitionReassignmentsRequest
) -> "Iterator[tuple[OngoingTopicReassignment, TopicPartition | None]]":
    """Each partition, with the topic of the answer that it belongs to."""
    topics = call.cluster.topics
    if request.topics is None:
        for topic in list(topics.values()):
            result = OngoingTopicReassignment(topic.name)
            yield from ((result, each) for each in topic.partitions)
    else:
        for asked in request.topics:
            result = OngoingTopicReassignment(asked.name)
            yield from (
                (result, call.cluster.partition(asked.name, each)) for each in asked.partition_indexes
            )


def _described(partition: "TopicPartition") -> OngoingPartitionReassignment:
    return OngoingPartitionReassignment(
        partition.index, partition.replicas, partition.adding_replicas, partition.removing_replicas
    )
