"""OffsetForLeaderEpoch (23): where a leader epoch ends (KIP-101, KIP-279, KIP-320)."""

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from .registry import handles


@handles(ApiKey.OFFSET_FOR_LEADER_EPOCH)
def offset_for_leader_epoch(call: Call, request: OffsetForLeaderEpochRequest) -> OffsetForLeaderEpochResponse:
    return OffsetForLeaderEpochResponse(
        topics=[
            OffsetForLeaderTopicResult(
                topic.topic, [_partition(call, topic.topic, p) for p in topic.partitions]
            )
            for topic in request.topics
        ]
    )


def _partition(call: Call, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    partition = call.partition(topic, asked.partition)
    if partition is None:
        return EpochEndOffset(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, asked.partition)
    error = partition.check_leader(asked.current_leader_epoch)
    if error:
        return EpochEndOffset(error, asked.partition)
    epoch, end_offset = partition.end_offset_for_epoch(asked.leader_epoch)
    return EpochEndOffset(ErrorCode.NONE, asked.partition, epoch, end_offset)
