"""OffsetDelete (47): deletes committed offsets of topics to which a group does not subscribe (KIP-496)."""

from ..cluster.call import Call
from ..coordinators.offsets import Key
from ..coordinators.reply import Reply
from ..policies.offsets.repeated_partitions import repeated_partitions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from .answered_topics import AnsweredTopics
from .registry import handles

E = ErrorCode


@handles(ApiKey.OFFSET_DELETE)
def offset_delete(call: Call, request: OffsetDeleteRequest) -> object:
    """Partitions that don't exist are answered first, but only if there is no error about the group
    itself."""
    groups = call.broker.groups
    group = groups.groups.get(request.group_id)
    error = groups.refuses(request.group_id)
    if not error and group is None:
        error = E.GROUP_ID_NOT_FOUND
    if error or group is None:
        return OffsetDeleteResponse(error_code=error)
    if not group.is_empty and not group.is_consumer:
        return OffsetDeleteResponse(error_code=E.NON_EMPTY_GROUP)
    answer = AnsweredTopics[OffsetDeleteResponseTopic]()

    def add(asked: OffsetDeleteRequestTopic, index: int, outcome: E) -> None:
        topic = answer.of(asked, asked.name, lambda: OffsetDeleteResponseTopic(asked.name))
        topic.partitions.append(OffsetDeleteResponsePartition(index, outcome))

    known: list[tuple[OffsetDeleteRequestTopic, Key, E]] = []
    for asked in request.topics:
        topic = call.cluster.topics.get(asked.name)
        subscribed = not group.is_empty and group.is_subscribed(asked.name)
        for partition in asked.partitions:
            index = partition.partition_index
            if topic is None or topic.partition(index) is None:
                add(asked, index, E.UNKNOWN_TOPIC_OR_PARTITION)
            else:
                outcome = E.GROUP_SUBSCRIBED_TO_TOPIC if subscribed else E.NONE
                known.append((asked, (asked.name, index), outcome))
    if call.policies[repeated_partitions] == "once":
        known = list({each[1]: each for each in known}.values())
    else:
        answer.begin_asked()
    for asked, key, outcome in known:
        add(asked, key[1], outcome)
    deleted = list(dict.fromkeys(key for _, key, outcome in known if not outcome))
    response = OffsetDeleteResponse(topics=answer.topics)
    if not deleted:
        return response
    reply = Reply[OffsetDeleteResponse](call)

    def done(error: ErrorCode) -> None:
        reply.complete(OffsetDeleteResponse(error_code=error) if error else response)

    groups.forget_offsets(group, deleted, done)
    return reply.outcome()
