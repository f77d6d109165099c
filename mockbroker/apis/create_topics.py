"""CreateTopics (19): KIP-4, defaults by KIP-464, returned configurations by KIP-525, ids by KIP-516."""

from collections import Counter
from typing import TYPE_CHECKING

from ..cluster import topic_creation
from ..cluster.api_error import ApiError
from ..cluster.call import Call
from ..cluster.topic_names import CLUSTER_METADATA
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from .registry import handles

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster


@handles(ApiKey.CREATE_TOPICS)
def create_topics(call: Call, request: CreateTopicsRequest) -> CreateTopicsResponse:
    """Every topic succeeds or fails by itself; the checks see the cluster as it was before the request."""
    if call.cluster.active_controller.refuses(call.broker):
        return CreateTopicsResponse(
            topics=[_failure(topic.name, ErrorCode.NOT_CONTROLLER, None) for topic in request.topics]
        )
    times = Counter(topic.name for topic in request.topics)
    single = [topic for topic in request.topics if times[topic.name] == 1 and topic.name != CLUSTER_METADATA]
    answer = CreateTopicsResponse(topics=_create_all(call.cluster, single, request))
    for name, count in times.items():
        if count > 1:
            answer.topics.append(_failure(name, ErrorCode.INVALID_REQUEST, "Duplicate topic name."))
        elif name == CLUSTER_METADATA:
            message = f"Creation of internal topic {name} is prohibited."
            answer.topics.append(_failure(name, ErrorCode.INVALID_REQUEST, message))
    return answer


def _create_all(
    cluster: "Cluster", topics: list[CreatableTopic], request: CreateTopicsRequest
) -> list[CreatableTopicResult]:
    if not topics:
        return []
    if request.timeout_ms <= 0:
        # The controller's deadline has passed when it takes up the request.
        return [_failure(topic.name, ErrorCode.REQUEST_TIMED_OUT, None) for topic in topics]
    if _partitions(cluster, topics) > topic_creation.MAX_PARTITIONS_PER_REQUEST:
        message = "Excessively large number of partitions per request."
        return [_failure(topic.name, ErrorCode.POLICY_VIOLATION, message) for topic in topics]
    checked: list[tuple[CreatableTopic, list[list[int]] | ApiError, dict[str, str]]] = []
    for topic in topics:
        overrides: dict[str, str] = {}
        try:
            topic_creation.check_name(cluster, topic.name)
            overrides = topic_creation.check_configs(
                cluster, [(each.name, each.value) for each in topic.configs]
            )
            checked.append((topic, _assignment(cluster, topic), overrides))
        except ApiError as error:
            checked.append((topic, error, overrides))
    results = []
    for topic, found, overrides in checked:
        if isinstance(found, ApiError):
            results.append(_failure(topic.name, found.code, found.message))
        else:
            results.append(_success(cluster, topic.name, found, overrides, request.validate_only))
    return results


def _partitions(cluster: "Cluster", topics: list[CreatableTopic]) -> int:
    """How many partitions the whole request asks for."""
    default = cluster.configs.broker_int("num.partitions")
    return sum(
        len(topic.assignments) or (default if topic.num_partitions == -1 else max(topic.num_partitions, 0))
        for topic in topics
    )


def _assignment(cluster: "Cluster", topic: CreatableTopic) -> list[list[int]]:
    if not topic.assignments:
        return topic_creation.place(cluster, topic.num_partitions, topic.replication_factor)
    for what, count in (
        ("replication factor", topic.replication_factor),
        ("numPartitions", topic.num_partitions),
    ):
        if count != -1:
            message = f"A manual partition assignment was specified, but {what} was not set to -1."
            raise ApiError(ErrorCode.INVALID_REQUEST, message)
    return topic_creation.check_assignment(
        cluster, [(each.partition_index, each.broker_ids) for each in topic.assignments]
    )


def _success(
    cluster: "Cluster", name: str, assignment: list[list[int]], overrides: dict[str, str], validate_only: bool
) -> CreatableTopicResult:
    topic_id = cluster.new_uuid() if validate_only else cluster.create_topic(name, assignment, overrides).id
    return CreatableTopicResult(
        name=name,
        topic_id=topic_id,
        num_partitions=len(assignment),
        replication_factor=len(assignment[0]),
        configs=[
            CreatableTopicConfigs(
                name=key.name,
                value=None if key.sensitive else value,
                config_source=source,
                is_sensitive=key.sensitive,
            )
            for key, value, source in sorted(
                cluster.configs.topic_entries(overrides), key=lambda entry: entry.key.name
            )
        ],
    )


def _failure(name: str, code: ErrorCode, message: str | None) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=code, error_message=message)
