"""ListPartitionReassignments (46): none, since a reassignment is over when it is answered (KIP-455)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from .registry import handles


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(
    call: Call, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    return ListPartitionReassignmentsResponse(error_message=None)
