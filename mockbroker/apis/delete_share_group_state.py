"""DeleteShareGroupState (86): a share group no longer has a partition (KIP-932)."""

from ..cluster.call import Call
from ..outcome import Steps
from ..protocol.api_keys import ApiKey
from ..protocol.messages.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    PartitionData,
)
from ..protocol.share_state_log import SharePartitionKey
from ..share_partitions.kept import Done
from .registry import handles
from .share_partition_states import answered


@handles(
    ApiKey.DELETE_SHARE_GROUP_STATE,
    changes=True,
    source="KafkaApis.handleDeleteShareGroupStateRequest, ShareCoordinatorShard.deleteState",
    partition_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        UNKNOWN_TOPIC_OR_PARTITION""",
    partition="INVALID_REQUEST, CLUSTER_AUTHORIZATION_FAILED",
)
def delete_share_group_state(call: Call, request: DeleteShareGroupStateRequest) -> Steps:
    states = call.broker.share_states

    def ask(key: SharePartitionKey, asked: PartitionData, done: Done) -> None:
        states.delete(key, done)

    return (yield from answered(call, request, ask, DeleteShareGroupStateResponse))
