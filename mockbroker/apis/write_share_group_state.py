"""WriteShareGroupState (85): what became of records of a share partition (KIP-932)."""

from ..cluster.call import Call
from ..outcome import Steps
from ..portions import MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.messages.write_share_group_state import (
    PartitionData,
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
)
from ..protocol.share_state_log import SharePartitionKey, StateBatch
from ..share_partitions.kept import Done
from .registry import handles
from .share_partition_states import answered


@handles(
    ApiKey.WRITE_SHARE_GROUP_STATE,
    changes=True,
    source="KafkaApis.handleWriteShareGroupStateRequest, ShareCoordinatorShard.writeState",
    partition_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        UNKNOWN_TOPIC_OR_PARTITION, FENCED_LEADER_EPOCH""",
    partition="INVALID_REQUEST, FENCED_STATE_EPOCH, CLUSTER_AUTHORIZATION_FAILED",
)
def write_share_group_state(call: Call, request: WriteShareGroupStateRequest) -> Steps:
    states = call.broker.share_states

    def ask(key: SharePartitionKey, asked: PartitionData, done: Done) -> Steps:
        batches: list[StateBatch] = []
        for some in portions(asked.state_batches, MANY):
            batches += [
                StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count)
                for each in some
            ]
            yield
        epochs = asked.state_epoch, asked.leader_epoch
        count = asked.delivery_complete_count
        yield from states.write(key, *epochs, asked.start_offset, count, batches, done)

    return (yield from answered(call, request, ask, WriteShareGroupStateResponse))
