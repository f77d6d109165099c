"""ReadShareGroupState (84): what the next leader of a share partition has to know (KIP-932)."""

from ..cluster.call import Call
from ..outcome import Steps
from ..portions import MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.messages.of_share_groups import SharePartitionAtEpoch, ShareStateBatch
from ..protocol.messages.read_share_group_state import (
    PartitionResult,
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateResult,
)
from ..protocol.share_state_log import SharePartitionKey
from ..share_partitions.kept import Done, Kept
from .registry import handles
from .share_partition_states import answered


@handles(
    ApiKey.READ_SHARE_GROUP_STATE,
    changes=True,
    source="""KafkaApis.handleReadShareGroupStateRequest,
        ShareCoordinatorShard.readStateAndMaybeUpdateLeaderEpoch""",
    partition_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        UNKNOWN_TOPIC_OR_PARTITION, FENCED_LEADER_EPOCH""",
    partition="INVALID_REQUEST, CLUSTER_AUTHORIZATION_FAILED",
)
def read_share_group_state(call: Call, request: ReadShareGroupStateRequest) -> Steps:
    states = call.broker.share_states

    def ask(key: SharePartitionKey, asked: SharePartitionAtEpoch, done: Done) -> Steps:
        yield from states.read(key, asked.leader_epoch, done)

    def fill(result: PartitionResult, kept: Kept) -> Steps:
        if kept.state is not None:
            call.count(len(kept.state.now.batches))
            for some in portions(kept.state.now.batches, MANY):
                result.state_batches += [ShareStateBatch(*each) for each in some]
                yield

    response, topic = ReadShareGroupStateResponse, ReadStateResult
    return (yield from answered(call, request, ask, response, _result, topic, fill))


def _result(partition: int, kept: Kept) -> PartitionResult:
    if kept.state is None:
        return PartitionResult(partition, kept.error, kept.message)
    now = kept.state.now
    return PartitionResult(partition, state_epoch=now.state_epoch, start_offset=now.start_offset)
