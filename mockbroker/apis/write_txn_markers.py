"""WriteTxnMarkers (27): ends transactions on partitions, as coordinators do (KIP-98)."""

from functools import partial

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..coordinators.transaction_markers import write_marker
from ..log.producer_state import NO_EPOCH
from ..protocol.api_keys import ApiKey
from ..protocol.batch_writing import Marker
from ..protocol.errors import ErrorCode
from ..protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from .registry import handles


@handles(ApiKey.WRITE_TXN_MARKERS)
def write_txn_markers(call: Call, request: WriteTxnMarkersRequest) -> object:
    reply = Reply[WriteTxnMarkersResponse](call)
    answer = WriteTxnMarkersResponse()
    waiting = 1

    def settled() -> None:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            reply.complete(answer)

    def done(result: WritableTxnMarkerPartitionResult, error: ErrorCode) -> None:
        result.error_code = error
        settled()

    if any(asked.producer_epoch == NO_EPOCH and _writes(call, asked) for asked in request.markers):
        return _failed(request)
    for asked in request.markers:
        epoch, committed = asked.producer_epoch, asked.transaction_result
        marker = Marker(asked.producer_id, epoch, committed, asked.coordinator_epoch)
        topics = []
        for topic in asked.topics:
            results = [WritableTxnMarkerPartitionResult(index) for index in topic.partition_indexes]
            topics.append(WritableTxnMarkerTopicResult(topic.name, results))
            for result in results:
                partition = call.partition(topic.name, result.partition_index)
                if partition is None or call.broker.id not in partition.replicas:
                    result.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                elif partition.leader != call.broker.id:
                    result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
                else:
                    waiting += 1
                    write_marker(
                        call.broker, partition, marker, partial(done, result), asked.transaction_version
                    )
        answer.markers.append(WritableTxnMarkerResult(asked.producer_id, topics))
    settled()
    return reply.outcome()


def _writes(call: Call, asked: WritableTxnMarker) -> bool:
    """Whether one of the partitions is on this broker."""
    found = (call.partition(topic.name, index) for topic in asked.topics for index in topic.partition_indexes)
    return any(each is not None and call.broker.id in each.replicas for each in found)


def _failed(request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    """A marker without an epoch can't be written (`MemoryRecordsBuilder.java`)."""
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                asked.producer_id,
                [
                    WritableTxnMarkerTopicResult(
                        topic.name,
                        [WritableTxnMarkerPartitionResult(index, error) for index in topic.partition_indexes],
                    )
                    for topic in asked.topics
                ],
            )
            for asked in request.markers
        ]
    )
