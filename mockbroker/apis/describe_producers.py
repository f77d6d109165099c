"""DescribeProducers (61): the producers that a replica knows (KIP-664)."""

from collections.abc import Iterator

from ..cluster.call import Call
from ..controller.topic_names import fault
from ..log.log import Log
from ..outcome import Steps
from ..portions import FEW, PORTION, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from ..replication.partition import Partition
from .answered_topics import each_partition
from .registry import handles


@handles(
    ApiKey.DESCRIBE_PRODUCERS,
    changes=False,
    source="KafkaApis.handleDescribeProducersRequest, ReplicaManager.activeProducerState",
    partition_retry="NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR",
    partition="INVALID_TOPIC_EXCEPTION, TOPIC_AUTHORIZATION_FAILED",
)
def describe_producers(call: Call, request: DescribeProducersRequest) -> Steps:
    """A partition that is named twice is answered twice."""
    answer = DescribeProducersResponse()
    topics = ((TopicResponse(topic.name), topic.partition_indexes) for topic in request.topics)
    for portion in portions(each_partition(answer.topics, topics), FEW):
        for result, index in portion:
            described, replica = _partition(call, result.name, index)
            result.partitions.append(described)
            if replica is not None:
                yield from _add_producers(call, described, replica.log)
        yield
    return answer


def _partition(call: Call, topic: str, index: int) -> tuple[PartitionResponse, Partition | None]:
    """Any replica answers. Only errors about the topic have a message."""
    if why := fault(topic):
        return PartitionResponse(index, ErrorCode.INVALID_TOPIC_EXCEPTION, why), None
    found = call.cluster.topics.get(topic)
    if found is None:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return PartitionResponse(index, code, default_message(code)), None
    partition = found.partition(index)
    if partition is None:
        return PartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), None
    replica = partition.at(call.broker.id)
    if replica is None:
        return PartitionResponse(index, ErrorCode.NOT_LEADER_OR_FOLLOWER), None
    return PartitionResponse(index), replica


def _add_producers(call: Call, described: PartitionResponse, log: Log) -> Iterator[None]:
    entries = log.producers.entries
    call.count(len(entries))
    for portion in portions(list(entries.items())):
        for producer_id, entry in portion:
            described.active_producers.append(
                ProducerState(
                    producer_id,
                    entry.epoch,
                    entry.batches[-1].last_sequence if entry.batches else -1,
                    entry.last_timestamp,
                    entry.coordinator_epoch,
                    -1 if entry.first_offset is None else entry.first_offset,
                )
            )
        if len(portion) == PORTION:
            yield
