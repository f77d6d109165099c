"""WriteTxnMarkers (27): ends transactions on partitions, as coordinators do (KIP-98)."""

from collections import Counter
from collections.abc import Generator
from functools import partial

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..coordinators.transaction_markers import write_marker
from ..log.producer_state import NO_EPOCH
from ..outcome import NEVER, Steps
from ..policies.transactions.repeated_markers import repeated_markers
from ..portions import FEW, Pace, portions
from ..protocol.api_keys import ApiKey
from ..protocol.batch_writing import Marker
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import PartitionCode, TopicCodes
from ..protocol.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from .registry import handles


@handles(
    ApiKey.WRITE_TXN_MARKERS,
    changes=True,
    source="""KafkaApis.handleWriteTxnMarkersRequest, ReplicaManager.appendRecords,
        ProducerAppendInfo.appendEndTxnMarker""",
    partition_retry="""NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION, NOT_ENOUGH_REPLICAS,
        NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR,
        COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, CORRUPT_MESSAGE""",
    partition="""INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED, UNSUPPORTED_FOR_MESSAGE_FORMAT,
        MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_REQUIRED_ACKS, CLUSTER_AUTHORIZATION_FAILED""",
)
def write_txn_markers(call: Call, request: WriteTxnMarkersRequest) -> Steps:
    reply: Reply[WriteTxnMarkersResponse] = Reply(call)
    answer = WriteTxnMarkersResponse()
    waiting = 1

    def settled() -> None:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            reply.complete(answer)

    def done(result: PartitionCode, error: ErrorCode) -> None:
        result.error_code = error
        settled()

    for asked in request.markers:
        if asked.producer_epoch == NO_EPOCH and (yield from _writes(call, asked)):
            return _failed(request)
    never = call.policies[repeated_markers] == "never"
    silent = False
    results = _Results(answer)
    pace = Pace(FEW)
    for asked in request.markers:
        if pace.enough():
            yield
        epoch, committed = asked.producer_epoch, asked.transaction_result
        marker = Marker(asked.producer_id, epoch, committed, asked.coordinator_epoch)
        named = Counter((topic.name, index) for topic in asked.topics for index in topic.partition_indexes)
        for (name, index), times in named.items():
            if pace.enough():
                yield
            result = results.of(asked.producer_id, name, index)
            partition = call.partition(name, index)
            if partition is None or call.broker.id not in partition.replicas:
                result.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                continue
            silent = silent or (never and times > 1)
            if partition.leader != call.broker.id:
                result.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
            else:
                waiting += 1
                write_marker(call.broker, partition, marker, partial(done, result), asked.transaction_version)
    if silent:
        return NEVER
    settled()
    return reply.outcome()


class _Results:
    """Each producer, topic and partition is in the answer once, however often it is named."""

    def __init__(self, answer: WriteTxnMarkersResponse) -> None:
        self._answer = answer
        self._producers: dict[int, WritableTxnMarkerResult] = {}
        self._topics: dict[tuple[int, str], TopicCodes] = {}
        self._partitions: dict[tuple[int, str, int], PartitionCode] = {}

    def of(self, producer_id: int, name: str, index: int) -> PartitionCode:
        """The result for a partition, made if need be."""
        key = producer_id, name, index
        if (result := self._partitions.get(key)) is None:
            result = self._partitions[key] = PartitionCode(index)
            self._topic(producer_id, name).partitions.append(result)
        return result

    def _topic(self, producer_id: int, name: str) -> TopicCodes:
        if (topic := self._topics.get((producer_id, name))) is None:
            topic = self._topics[producer_id, name] = TopicCodes(name)
            self._producer(producer_id).topics.append(topic)
        return topic

    def _producer(self, producer_id: int) -> WritableTxnMarkerResult:
        if (producer := self._producers.get(producer_id)) is None:
            producer = self._producers[producer_id] = WritableTxnMarkerResult(producer_id)
            self._answer.markers.append(producer)
        return producer


def _writes(call: Call, asked: WritableTxnMarker) -> Generator[None, None, bool]:
    """Whether one of the partitions is on this broker."""
    for topic in asked.topics:
        for few in portions(topic.partition_indexes, FEW):
            found = [call.partition(topic.name, index) for index in few]
            if any(each is not None and call.broker.id in each.replicas for each in found):
                return True
            yield
    return False


def _failed(request: WriteTxnMarkersRequest) -> WriteTxnMarkersResponse:
    """A marker without an epoch can't be written (`MemoryRecordsBuilder.java`)."""
    error = ErrorCode.UNKNOWN_SERVER_ERROR
    return WriteTxnMarkersResponse(
        markers=[
            WritableTxnMarkerResult(
                asked.producer_id,
                [
                    TopicCodes(
                        topic.name,
                        [PartitionCode(index, error) for index in topic.partition_indexes],
                    )
                    for topic in asked.topics
                ],
            )
            for asked in request.markers
        ]
    )
