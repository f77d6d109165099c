"""DeleteTopics (20): by name, and by id since KIP-516."""

from collections import Counter
from collections.abc import Generator
from typing import TYPE_CHECKING, Final
from uuid import UUID

from ..cluster.call import Call
from ..outcome import Steps
from ..portions import MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from .registry import handles

if TYPE_CHECKING:
    from ..cluster.topic import Topic

E = ErrorCode
_OWN_ERROR_SINCE: Final = 3


@handles(
    ApiKey.DELETE_TOPICS,
    changes=True,
    source="""ControllerApis.deleteTopics, ReplicationControlManager.deleteTopics, ForwardingManager;
        KafkaApis.handleDeleteTopicsRequest before 4.0 (TOPIC_DELETION_DISABLED was INVALID_REQUEST before
        v3); KIP-599""",
    topic_retry="""NOT_CONTROLLER, REQUEST_TIMED_OUT, THROTTLING_QUOTA_EXCEEDED v5+,
        UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID v6+""",
    topic="""TOPIC_DELETION_DISABLED v3+, INVALID_REQUEST, INVALID_TOPIC_EXCEPTION,
        TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED""",
)
def delete_topics(call: Call, request: DeleteTopicsRequest) -> Steps:
    """Every topic succeeds or fails by itself."""
    cluster = call.cluster
    if call.broker.is_not_controller:
        return _refused(request, ErrorCode.NOT_CONTROLLER)
    if not cluster.environment.configs.broker_bool("delete.topic.enable"):
        own = call.version >= _OWN_ERROR_SINCE
        return _refused(request, ErrorCode.TOPIC_DELETION_DISABLED if own else ErrorCode.INVALID_REQUEST)
    results, names, ids = yield from _sorted_out(request)
    if request.timeout_ms <= 0 and (names or ids):
        # The controller's deadline has passed when it looks for the first topic.
        return _refused(request, ErrorCode.REQUEST_TIMED_OUT)
    deleted: dict[str, Topic] = {}
    for topic_ids in portions(ids, MANY):
        for topic_id in topic_ids:
            if topic_id in cluster.topic_ids:
                topic = cluster.topic_ids[topic_id]
                deleted[topic.name] = topic
            else:
                results.append(_result(None, topic_id, ErrorCode.UNKNOWN_TOPIC_ID))
        yield
    for some in portions(names, MANY):
        for name in some:
            if name not in cluster.topics:
                results.append(_result(name, None, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
            elif (twice := deleted.pop(name, None)) is not None:
                message = "The provided topic name maps to an ID that was already supplied."
                results.append(_result(name, twice.id, ErrorCode.INVALID_REQUEST, message))
            else:
                deleted[name] = cluster.topics[name]
        yield
    gone = yield from cluster.deleting_topics(deleted.values())
    by_name = set(names)
    for told in portions(deleted.values(), MANY):
        for each in told:
            # Others were deleted by another request meanwhile.
            unknown = E.UNKNOWN_TOPIC_OR_PARTITION if each.name in by_name else E.UNKNOWN_TOPIC_ID
            results.append(_result(each.name, each.id, E.NONE if each in gone else unknown))
        yield
    return DeleteTopicsResponse(responses=results)


def _sorted_out(
    request: DeleteTopicsRequest,
) -> Generator[None, None, tuple[list[DeletableTopicResult], list[str], list[UUID]]]:
    """The errors of topics that are not named properly, then the names and the ids of the others."""
    errors = []
    names: Counter[str] = Counter()
    ids: Counter[UUID] = Counter()
    for some in portions(request.topics, MANY):
        for each in some:
            if each.name is not None and each.topic_id is not None:
                message = "You may not specify both topic name and topic id."
                errors.append(_result(each.name, each.topic_id, ErrorCode.INVALID_REQUEST, message))
            elif each.name is not None:
                names[each.name] += 1
            elif each.topic_id is not None:
                ids[each.topic_id] += 1
            else:
                message = "Neither topic name nor id were specified."
                errors.append(_result(None, None, ErrorCode.INVALID_REQUEST, message))
        yield
    for name, times in names.items():
        if times > 1:
            errors.append(_result(name, None, ErrorCode.INVALID_REQUEST, "Duplicate topic name."))
    for topic_id, times in ids.items():
        if times > 1:
            errors.append(_result(None, topic_id, ErrorCode.INVALID_REQUEST, "Duplicate topic id."))
    return errors, [each for each in names if names[each] == 1], [each for each in ids if ids[each] == 1]


def _result(
    name: str | None, topic_id: UUID | None, code: ErrorCode, message: str | None = None
) -> DeletableTopicResult:
    return DeletableTopicResult(name, topic_id, code, message or default_message(code))


def _refused(request: DeleteTopicsRequest, code: ErrorCode) -> DeleteTopicsResponse:
    """Every topic with the same error."""
    return DeleteTopicsResponse(
        responses=[DeletableTopicResult(each.name, each.topic_id, code) for each in request.topics]
    )
