"""CreatePartitions (37): more partitions for topics (KIP-195)."""

from collections import Counter
from typing import TYPE_CHECKING

from ..cluster import topic_creation
from ..cluster.api_error import ApiError
from ..cluster.call import Call
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreatePartitionsTopicResult,
)
from .registry import handles

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..cluster.topic import Topic


@handles(ApiKey.CREATE_PARTITIONS)
def create_partitions(call: Call, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
    """Every topic succeeds or fails by itself."""
    cluster = call.cluster
    if cluster.active_controller.refuses(call.broker):
        names = dict.fromkeys(topic.name for topic in request.topics)
        return CreatePartitionsResponse(
            results=[CreatePartitionsTopicResult(name, ErrorCode.NOT_CONTROLLER) for name in names]
        )
    times = Counter(topic.name for topic in request.topics)
    results = [
        CreatePartitionsTopicResult(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
        for name, count in times.items()
        if count > 1
    ]
    for asked in request.topics:
        if times[asked.name] > 1:
            continue
        try:
            if request.timeout_ms <= 0:
                # The controller's deadline has passed when it takes up the request.
                raise ApiError(ErrorCode.REQUEST_TIMED_OUT)
            topic, assignment = _checked(cluster, asked)
            if not request.validate_only:
                topic.add_partitions(assignment)
            results.append(CreatePartitionsTopicResult(asked.name))
        except ApiError as error:
            results.append(CreatePartitionsTopicResult(asked.name, error.code, error.message))
    return CreatePartitionsResponse(results=results)


def _checked(cluster: "Cluster", asked: CreatePartitionsTopic) -> tuple["Topic", list[list[int]]]:
    """The topic and the replicas of its new partitions. ApiError (`ReplicationControlManager.java`)."""
    topic = cluster.topics.get(asked.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    present = len(topic.partitions)
    if asked.count == present:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if asked.count < present:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {asked.name} currently has {present} partition(s); "
            f"{asked.count} would not be an increase.",
        )
    more = asked.count - present
    if more > topic_creation.MAX_PARTITIONS_PER_REQUEST:
        raise ApiError(*cluster.policies.too_many_new_partitions)
    factor = len(topic.partitions[0].replicas)
    if asked.assignments is None:
        topic_creation.check_replication_factor(cluster, factor)
        first = topic.partitions[0].replicas[0] - 1 + present
        return topic, cluster.assign_replicas(more, factor, first=first)
    if len(asked.assignments) != more:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {more} additional partition(s), "
            f"but only {len(asked.assignments)} assignment(s) were specified.",
        )
    for index, each in enumerate(asked.assignments, present):
        topic_creation.check_replicas(cluster, index, each.broker_ids, factor)
    return topic, [list(each.broker_ids) for each in asked.assignments]
