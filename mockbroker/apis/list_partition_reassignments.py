"""ListPartitionReassignments (46): none, since a reassignment is over when it is answered (KIP-455)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from .default_messages import default_message
from .registry import handles


@handles(ApiKey.LIST_PARTITION_REASSIGNMENTS)
def list_partition_reassignments(
    call: Call, request: ListPartitionReassignmentsRequest
) -> ListPartitionReassignmentsResponse:
    if call.cluster.active_controller.refuses(call.broker):
        error = ErrorCode.NOT_CONTROLLER
        return ListPartitionReassignmentsResponse(error_code=error, error_message=default_message(error))
    return ListPartitionReassignmentsResponse(error_message=None)
