"""ReadShareGroupStateSummary (87): how far a share group is in a partition (KIP-932)."""

from ..cluster.call import Call
from ..outcome import Steps
from ..protocol.api_keys import ApiKey
from ..protocol.messages.of_share_groups import SharePartitionAtEpoch
from ..protocol.messages.read_share_group_state_summary import (
    PartitionResult,
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryResult,
)
from ..protocol.share_state_log import UNKNOWN, SharePartitionKey
from ..share_partitions.kept import Done, Kept
from .registry import handles
from .share_partition_states import answered


@handles(
    ApiKey.READ_SHARE_GROUP_STATE_SUMMARY,
    changes=False,
    source="KafkaApis.handleReadShareGroupStateSummaryRequest, ShareCoordinatorShard.readStateSummary",
    partition_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        UNKNOWN_TOPIC_OR_PARTITION""",
    partition="INVALID_REQUEST, CLUSTER_AUTHORIZATION_FAILED",
)
def read_share_group_state_summary(call: Call, request: ReadShareGroupStateSummaryRequest) -> Steps:
    states = call.broker.share_states

    def ask(key: SharePartitionKey, asked: SharePartitionAtEpoch, done: Done) -> None:
        states.summarize(key, done)

    response, topic = ReadShareGroupStateSummaryResponse, ReadStateSummaryResult
    return (yield from answered(call, request, ask, response, _result, topic))


def _result(partition: int, kept: Kept) -> PartitionResult:
    if kept.error:
        return PartitionResult(partition, kept.error, kept.message)
    if kept.state is None:
        return PartitionResult(partition, start_offset=UNKNOWN)
    now = kept.state.now
    return PartitionResult(
        partition,
        state_epoch=now.state_epoch,
        leader_epoch=now.leader_epoch,
        start_offset=now.start_offset,
        delivery_complete_count=now.complete_count,
    )
