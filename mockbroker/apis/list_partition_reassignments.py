"""ListPartitionReassignments (46): reassignments in progress (KIP-455)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..cluster.call import Call
from ..controller import reassignments
from ..policies.controller.reassignment_refusal import reassignment_refusal
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from .default_messages import default_message
from .registry import handles

if TYPE_CHECKING:
    from ..cluster.topic import TopicPartition


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(
    call: Call, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    """Those of all topics, or of those that are named. Unknown topics and partitions are left out."""
    if call.broker.is_not_controller:
        error = ErrorCode.NOT_CONTROLLER
        return ListPartitionReassignmentsResponse(error_code=error, error_message=default_message(error))
    topics = call.cluster.topics
    asked: Iterable[tuple[str, Iterable[TopicPartition | None]]]
    if request.topics is None:
        asked = ((name, topic.partitions) for name, topic in topics.items())
    else:
        asked = (
            (each.name, map(topics[each.name].partition, each.partition_indexes))
            for each in request.topics
            if each.name in topics
        )
    found = (
        (name, [_described(p) for p in parts if p and reassignments.under_way(p)]) for name, parts in asked
    )
    return ListPartitionReassignmentsResponse(
        error_message="" if call.policies[reassignment_refusal] == "dead-brokers" else None,
        topics=[OngoingTopicReassignment(name, moving) for name, moving in found if moving],
    )


def _described(partition: "TopicPartition") -> OngoingPartitionReassignment:
    return OngoingPartitionReassignment(
        partition.index, partition.replicas, partition.adding_replicas, partition.removing_replicas
    )
