"""DescribeTopicPartitions (75): topics page by page (KIP-966), in the order of their names."""

from collections.abc import Collection
from typing import Final

from ..cluster.call import Call
from ..cluster.topic import INTERNAL
from ..controller import topic_names
from ..metadata.image import PartitionRegistration, TopicImage
from ..outcome import Steps
from ..portions import Pace
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from .metadata import TOPIC_OPERATIONS
from .registry import handles

_PARTITIONS: Final = 128
"""So many are described in one step."""


@handles(
    ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    changes=False,
    usual_level="topic",
    source="DescribeTopicPartitionsRequestHandler, KRaftMetadataCache.describeTopicResponse, KafkaApis",
    topic_retry="UNKNOWN_TOPIC_OR_PARTITION",
    topic="INVALID_TOPIC_EXCEPTION, INVALID_REQUEST, TOPIC_AUTHORIZATION_FAILED",
    partition_retry="LEADER_NOT_AVAILABLE, LISTENER_NOT_FOUND",
)
def describe_topic_partitions(call: Call, request: DescribeTopicPartitionsRequest) -> Steps:
    """Without names, all topics; unknown topics are left out
    (`DescribeTopicPartitionsRequestHandler.java`)."""
    image = call.broker.image
    names = [topic.name for topic in request.topics]
    if (code := _fault(names, request.cursor)) is not None:
        return DescribeTopicPartitionsResponse(
            topics=[DescribeTopicPartitionsResponseTopic(error_code=code, name=name) for name in names]
        )
    start = request.cursor or Cursor()
    most = call.environment.configs.broker_int("max.request.partition.size.limit")
    left = max(min(most, request.response_partition_limit), 1)
    answer = DescribeTopicPartitionsResponse()
    listed = {broker.id for broker in image.brokers.values() if not broker.fenced}
    pace = Pace(_PARTITIONS)
    for name in sorted({name for name in names or image.topics if name >= start.topic_name}):
        if pace.enough():
            yield
        if left == 0:
            answer.next_cursor = Cursor(name, 0)
            break
        topic = image.topics.get(name)
        if topic is None:
            answer.topics.append(_missing(name))
            continue
        first = start.partition_index if name == start.topic_name else 0
        page = topic.partitions[first : first + left]
        answer.topics.append(_described(topic, first, page, listed))
        left -= len(page)
        if pace.enough(len(page)):
            yield
        if first + len(page) < len(topic.partitions):
            answer.next_cursor = Cursor(name, first + len(page))
            break
    return answer


def _fault(names: list[str], cursor: Cursor | None) -> ErrorCode | None:
    """The error of a request that can't be answered: an impossible cursor, or an empty name."""
    if cursor is not None and ((names and cursor.topic_name not in names) or cursor.partition_index < 0):
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.UNKNOWN_SERVER_ERROR if "" in names else None


def _missing(name: str) -> DescribeTopicPartitionsResponseTopic:
    code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if topic_names.fault(name) is not None:
        code = ErrorCode.INVALID_TOPIC_EXCEPTION
    return DescribeTopicPartitionsResponseTopic(
        code, name, is_internal=name in INTERNAL, topic_authorized_operations=TOPIC_OPERATIONS
    )


def _described(
    topic: TopicImage, first: int, page: list[PartitionRegistration], brokers: Collection[int]
) -> DescribeTopicPartitionsResponseTopic:
    """`page` has the partitions from index `first` on; `brokers` are those that the client is told about."""
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.name in INTERNAL,
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                eligible_leader_replicas=partition.eligible_leader_replicas,
                last_known_elr=partition.last_known_elr,
                offline_replicas=[each for each in partition.replicas if each not in brokers],
            )
            for index, partition in enumerate(page, first)
        ],
        topic_authorized_operations=TOPIC_OPERATIONS,
    )
