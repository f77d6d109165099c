"""OffsetDelete (47): deletes committed offsets of topics to which a group does not subscribe (KIP-496)."""

from ..cluster.call import Call
from ..coordinators.offsets import Key
from ..coordinators.reply import Reply
from ..outcome import Steps
from ..policies.offsets.repeated_partitions import repeated_partitions
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import PartitionCode, TopicCodes
from ..protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from .answered_topics import AnsweredTopics
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.OFFSET_DELETE,
    changes=True,
    source="""KafkaApis.handleOffsetDeleteRequest, OffsetMetadataManager.deleteOffsets,
        ClassicGroup.validateOffsetDelete""",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="GROUP_ID_NOT_FOUND, INVALID_GROUP_ID, NON_EMPTY_GROUP, GROUP_AUTHORIZATION_FAILED",
    partition_retry="UNKNOWN_TOPIC_OR_PARTITION",
    partition="GROUP_SUBSCRIBED_TO_TOPIC, TOPIC_AUTHORIZATION_FAILED",
)
def offset_delete(call: Call, request: OffsetDeleteRequest) -> Steps:
    """Partitions that don't exist are answered first, but only if there is no error about the group
    itself."""
    if error := _refusal(call, request.group_id):
        return OffsetDeleteResponse(error_code=error)
    answer: AnsweredTopics[TopicCodes] = AnsweredTopics()

    def add(asked: OffsetDeleteRequestTopic, index: int, outcome: E) -> None:
        topic = answer.of(asked, asked.name, lambda: TopicCodes(asked.name))
        topic.partitions.append(PartitionCode(index, outcome))

    known: list[tuple[OffsetDeleteRequestTopic, Key]] = []
    for portion in portions((topic, each) for topic in request.topics for each in topic.partitions):
        for asked, partition in portion:
            index = partition.partition_index
            if call.cluster.partition(asked.name, index) is None:
                add(asked, index, E.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                known.append((asked, (asked.name, index)))
        yield
    if call.policies[repeated_partitions] == "once":
        known = list({each[1]: each for each in known}.values())
    else:
        answer.begin_asked()
    group = call.broker.groups.groups.get(request.group_id)
    if error := _refusal(call, request.group_id):
        return OffsetDeleteResponse(error_code=error)
    assert group is not None
    names = {name for _, (name, _) in known} if not group.is_empty else ()
    subscribed = {name for name in names if group.is_subscribed(name)}
    deleted = list(dict.fromkeys(key for _, key in known if key[0] not in subscribed))
    reply: Reply[OffsetDeleteResponse] = Reply(call)
    response = OffsetDeleteResponse()

    def done(error: ErrorCode) -> None:
        reply.complete(OffsetDeleteResponse(error_code=error) if error else response)

    if deleted:
        call.broker.groups.forget_offsets(group, deleted, done)
    else:
        done(E.NONE)
    for found in portions(known):
        for asked, (name, index) in found:
            add(asked, index, E.GROUP_SUBSCRIBED_TO_TOPIC if name in subscribed else E.NONE)
        yield
    response.topics = answer.topics
    return reply.outcome()


def _refusal(call: Call, group_id: str) -> E:
    """Why no offsets of the group can be deleted."""
    group, error = call.broker.groups.groups.get(group_id), call.broker.groups.refuses(group_id)
    if error or group is None or group.type == "share":
        return error or E.GROUP_ID_NOT_FOUND
    return E.NON_EMPTY_GROUP if not group.is_empty and not group.is_consumer else E.NONE
