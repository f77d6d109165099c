"""InitializeShareGroupState (83): a share group is to have a partition, from an offset on (KIP-932)."""

from ..cluster.call import Call
from ..outcome import Steps
from ..protocol.api_keys import ApiKey
from ..protocol.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    PartitionData,
)
from ..protocol.share_state_log import SharePartitionKey
from ..share_partitions.kept import Done
from .registry import handles
from .share_partition_states import answered


@handles(
    ApiKey.INITIALIZE_SHARE_GROUP_STATE,
    changes=True,
    source="KafkaApis.handleInitializeShareGroupStateRequest, ShareCoordinatorShard.initializeState",
    partition_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        UNKNOWN_TOPIC_OR_PARTITION""",
    partition="INVALID_REQUEST, FENCED_STATE_EPOCH, CLUSTER_AUTHORIZATION_FAILED",
)
def initialize_share_group_state(call: Call, request: InitializeShareGroupStateRequest) -> Steps:
    states = call.broker.share_states

    def ask(key: SharePartitionKey, asked: PartitionData, done: Done) -> None:
        states.initialize(key, asked.state_epoch, asked.start_offset, done)

    return (yield from answered(call, request, ask, InitializeShareGroupStateResponse))
