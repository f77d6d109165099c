"""OffsetForLeaderEpoch (23): where a leader epoch ends (KIP-101, KIP-279, KIP-320)."""

from ..cluster.call import Call
from ..outcome import Steps
from ..portions import FEW, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from .answered_topics import each_partition
from .registry import handles


@handles(
    ApiKey.OFFSET_FOR_LEADER_EPOCH,
    changes=False,
    source="""KafkaApis.handleOffsetForLeaderEpochRequest, ReplicaManager.lastOffsetForLeaderEpoch,
        Partition.checkCurrentLeaderEpoch (a request has the current leader epoch since v2, KIP-320)""",
    partition_retry="""NOT_LEADER_OR_FOLLOWER, FENCED_LEADER_EPOCH v2+, UNKNOWN_LEADER_EPOCH v2+,
        UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE""",
    partition="TOPIC_AUTHORIZATION_FAILED",
)
def offset_for_leader_epoch(call: Call, request: OffsetForLeaderEpochRequest) -> object:
    if len(request.topics) == 1 and len(request.topics[0].partitions) <= FEW:
        # Most ask about few partitions, and many ask all the time.
        (topic,) = request.topics
        found = [_partition(call, topic.topic, each) for each in topic.partitions]
        return OffsetForLeaderEpochResponse(topics=[OffsetForLeaderTopicResult(topic.topic, found)])
    return call.in_parts(_answer(call, request))


def _answer(call: Call, request: OffsetForLeaderEpochRequest) -> Steps:
    answer = OffsetForLeaderEpochResponse()
    topics = ((OffsetForLeaderTopicResult(topic.topic), topic.partitions) for topic in request.topics)
    for portion in portions(each_partition(answer.topics, topics), FEW):
        for result, each in portion:
            result.partitions.append(_partition(call, result.topic, each))
        yield
    return answer


def _partition(call: Call, topic: str, asked: OffsetForLeaderPartition) -> EpochEndOffset:
    partition = call.partition(topic, asked.partition)
    if partition is None:
        return EpochEndOffset(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, asked.partition)
    error = partition.check_leader(asked.current_leader_epoch)
    if error:
        return EpochEndOffset(error, asked.partition)
    epoch, end_offset = partition.end_offset_for_epoch(asked.leader_epoch)
    return EpochEndOffset(ErrorCode.NONE, asked.partition, epoch, end_offset)
