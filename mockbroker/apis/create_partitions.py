"""CreatePartitions (37): adds partitions to topics (KIP-195)."""

from collections import Counter
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from ..cluster.call import Call
from ..controller import reassignments, topic_creation
from ..controller.topic_creation import assign_replicas
from ..outcome import Steps
from ..policies.topics.partitions_during_reassignment import partitions_during_reassignment
from ..policies.topics.replicas_of_new_partitions import replicas_of_new_partitions
from ..policies.topics.too_many_new_partitions import too_many_new_partitions
from ..portions import MANY, Pace, portions
from ..protocol.api_error import ApiError
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

_A_TOPIC: Final = 3
"""To change one takes as long as so many of a `Pace`, and so do some partitions."""
_PARTITIONS: Final = 4


@handles(
    ApiKey.CREATE_PARTITIONS,
    changes=True,
    source="""ControllerApis.createPartitions, ReplicationControlManager.createPartitions, ForwardingManager;
        KafkaApis.handleCreatePartitionsRequest and ZkAdminManager before 4.0; KIP-599""",
    topic_retry="""NOT_CONTROLLER, REQUEST_TIMED_OUT, THROTTLING_QUOTA_EXCEEDED v3+,
        UNKNOWN_TOPIC_OR_PARTITION""",
    topic="""INVALID_PARTITIONS, INVALID_REPLICA_ASSIGNMENT, INVALID_REPLICATION_FACTOR, INVALID_REQUEST,
        INVALID_TOPIC_EXCEPTION, POLICY_VIOLATION, REASSIGNMENT_IN_PROGRESS, TOPIC_AUTHORIZATION_FAILED,
        CLUSTER_AUTHORIZATION_FAILED""",
)
def create_partitions(call: Call, request: CreatePartitionsRequest) -> Steps:
    """Every topic succeeds or fails by itself."""
    cluster = call.cluster
    times: Counter[str] = Counter()
    for some in portions(request.topics, MANY):
        times.update(topic.name for topic in some)
        yield
    answer = CreatePartitionsResponse()
    results, elsewhere = answer.results, call.broker.is_not_controller
    for names in portions(times.items(), MANY):
        for name, count in names:
            if elsewhere:
                results.append(CreatePartitionsTopicResult(name, ErrorCode.NOT_CONTROLLER))
            elif count > 1:
                message = "Duplicate topic name."
                results.append(CreatePartitionsTopicResult(name, ErrorCode.INVALID_REQUEST, message))
        yield
    if elsewhere:
        return answer
    limit = cluster.environment.policies[too_many_new_partitions]
    refused = limit.whole_request and (yield from _adds_too_many(cluster, request.topics, times))
    left, pace = topic_creation.MAX_RECORDS, Pace()
    for asked in request.topics:
        if times[asked.name] > 1:
            continue
        before = left
        try:
            if request.timeout_ms <= 0:
                # The controller's deadline has passed when it starts on the request.
                raise ApiError(ErrorCode.REQUEST_TIMED_OUT)
            if refused:
                raise ApiError(limit.code, limit.message)
            topic, more = _increase(cluster, asked)
            left = max(left - more, -1)
            if left < 0:
                raise ApiError(limit.code, limit.message)
            assignment = _assignment(cluster, asked, topic, more)
            if not request.validate_only:
                topic.add_partitions(assignment)
            results.append(CreatePartitionsTopicResult(asked.name))
        except ApiError as error:
            results.append(CreatePartitionsTopicResult(asked.name, error.code, error.message))
        if pace.enough(_A_TOPIC + (before - left) // _PARTITIONS):
            yield
    return answer


def _adds_too_many(
    cluster: "Cluster", topics: list[CreatePartitionsTopic], times: Counter[str]
) -> Generator[None, None, bool]:
    """Whether more partitions are added in all than a request may add."""
    added = 0
    for some in portions(topics, MANY):
        added += sum(
            max(asked.count - len(cluster.topics[asked.name].partitions), 0)
            for asked in some
            if times[asked.name] == 1 and asked.name in cluster.topics
        )
        yield
    return added > topic_creation.MAX_RECORDS


def _increase(cluster: "Cluster", asked: CreatePartitionsTopic) -> tuple["Topic", int]:
    """The topic, and how many partitions it gets. ApiError (`ReplicationControlManager.java`)."""
    topic = cluster.topics.get(asked.name)
    if topic is None:
        raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    refused = topic.policies[partitions_during_reassignment] == "refused"
    if refused and any(map(reassignments.under_way, topic.partitions)):
        message = f"A partition reassignment is in progress for the topic '{topic.name}'."
        raise ApiError(ErrorCode.REASSIGNMENT_IN_PROGRESS, message)
    present = len(topic.partitions)
    if asked.count == present:
        raise ApiError(ErrorCode.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if asked.count < present:
        raise ApiError(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {asked.name} currently has {present} partition(s); "
            f"{asked.count} would not be an increase.",
        )
    return topic, asked.count - present


def _assignment(
    cluster: "Cluster", asked: CreatePartitionsTopic, topic: "Topic", more: int
) -> list[list[int]]:
    """The replicas of the new partitions. ApiError."""
    present = len(topic.partitions)
    zero = topic.policies[replicas_of_new_partitions] == "as-partition-0"
    factor = len(topic.partitions[0 if zero else cluster.controller.partition_order(topic.id)[0]].replicas)
    if asked.assignments is None:
        topic_creation.check_replication_factor(cluster.controller, factor)
        first = topic.partitions[0].replicas[0] - 1 + present
        return assign_replicas(cluster.controller, more, factor, first=first)
    if len(asked.assignments) != more:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {more} additional partition(s), "
            f"but only {len(asked.assignments)} assignment(s) were specified.",
        )
    for index, each in enumerate(asked.assignments, present):
        topic_creation.check_replicas(cluster.controller, index, each.broker_ids, factor)
    return [list(each.broker_ids) for each in asked.assignments]
