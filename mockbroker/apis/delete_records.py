"""DeleteRecords (21): moves the log start offset (KIP-107)."""

from typing import Final

from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from .registry import handles

_HIGH_WATERMARK: Final = -1
_NO_LOW_WATERMARK: Final = -1


@handles(ApiKey.DELETE_RECORDS)
def delete_records(call: Call, request: DeleteRecordsRequest) -> DeleteRecordsResponse:
    """Of a partition that is named twice the last offset counts."""
    asked: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        asked.setdefault(topic.name, {}).update(
            (each.partition_index, each.offset) for each in topic.partitions
        )
    return DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name, [_delete(call, name, *each) for each in offsets.items()])
            for name, offsets in asked.items()
            if offsets
        ]
    )


def _delete(call: Call, topic: str, index: int, offset: int) -> DeleteRecordsPartitionResult:
    """`Partition.deleteRecordsOnLeader`; a compacted topic that is not deleted from refuses."""

    def refuse(code: ErrorCode) -> DeleteRecordsPartitionResult:
        return DeleteRecordsPartitionResult(index, _NO_LOW_WATERMARK, code)

    partition = call.partition(topic, index)
    if partition is None:
        return refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if partition.topic.internal:
        return refuse(ErrorCode.INVALID_TOPIC_EXCEPTION)
    if partition.leader != call.broker.id:
        return refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if not partition.topic.settings.deletable:
        return refuse(ErrorCode.POLICY_VIOLATION)
    log = partition.log
    wanted = log.high_watermark if offset == _HIGH_WATERMARK else offset
    if not 0 <= wanted <= log.high_watermark:
        return refuse(ErrorCode.OFFSET_OUT_OF_RANGE)
    if wanted > log.start_offset:
        partition.advance_log_start(wanted)
    return DeleteRecordsPartitionResult(index, min(log.start_offset for log in partition.logs.values()))
