"""DescribeProducers (61): the producers that a replica knows (KIP-664)."""

from ..cluster.call import Call
from ..controller.topic_names import fault
from ..log.log import Log
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from .default_messages import default_message
from .registry import handles


@handles(ApiKey.DESCRIBE_PRODUCERS)
def describe_producers(call: Call, request: DescribeProducersRequest) -> DescribeProducersResponse:
    return DescribeProducersResponse(
        topics=[
            TopicResponse(
                topic.name, [_partition(call, topic.name, index) for index in topic.partition_indexes]
            )
            for topic in request.topics
        ]
    )


def _partition(call: Call, topic: str, index: int) -> PartitionResponse:
    """Any replica answers. Only errors about the topic have a message."""
    if why := fault(topic):
        return PartitionResponse(index, ErrorCode.INVALID_TOPIC_EXCEPTION, why)
    found = call.cluster.topics.get(topic)
    if found is None:
        code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return PartitionResponse(index, code, default_message(code))
    partition = found.partition(index)
    if partition is None:
        return PartitionResponse(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    replica = partition.at(call.broker.id)
    if replica is None:
        return PartitionResponse(index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    return PartitionResponse(index, active_producers=_producers(replica.log))


def _producers(log: Log) -> list[ProducerState]:
    return [
        ProducerState(
            producer_id,
            entry.epoch,
            entry.batches[-1].last_sequence if entry.batches else -1,
            entry.last_timestamp,
            entry.coordinator_epoch,
            -1 if entry.first_offset is None else entry.first_offset,
        )
        for producer_id, entry in log.producers.entries.items()
    ]
