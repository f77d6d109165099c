"""DeleteShareGroupOffsets (92): share groups without members no longer have a topic (KIP-932)."""

from uuid import UUID

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..outcome import Steps
from ..policies.share_groups.empty_share_group_id import empty_share_group_id
from ..portions import FEW, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.DELETE_SHARE_GROUP_OFFSETS,
    changes=True,
    source="""KafkaApis.handleDeleteShareGroupOffsetsRequest,
        GroupMetadataManager.sharePartitionsEligibleForOffsetDeletion""",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="""INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, UNSUPPORTED_VERSION,
        GROUP_AUTHORIZATION_FAILED""",
    topic_retry="UNKNOWN_TOPIC_OR_PARTITION, COORDINATOR_NOT_AVAILABLE",
    topic="TOPIC_AUTHORIZATION_FAILED",
)
def delete_share_group_offsets(call: Call, request: DeleteShareGroupOffsetsRequest) -> Steps:
    """Topics of which nothing can be deleted come first."""
    groups = call.broker.groups
    if not groups.shares.served:
        return _failed(E.UNSUPPORTED_VERSION)
    if not request.group_id and call.policies[empty_share_group_id] == "ignored":
        return DeleteShareGroupOffsetsResponse()
    if error := groups.refuses(request.group_id):
        return _failed(error)
    try:
        group = groups.share_offsets.check_deletable(request.group_id)
    except ApiError as refused:
        return _failed(refused.code, refused.message)
    answer = DeleteShareGroupOffsetsResponse()
    gone: dict[UUID, str] = {}
    for portion in portions(request.topics, FEW):
        for topic in portion:
            known, missing = call.broker.image.topics.get(topic.topic_name), E.UNKNOWN_TOPIC_OR_PARTITION
            if known is not None and (known.id in group.initialized or known.id in group.deleting):
                gone[known.id] = topic.topic_name
                continue
            why = "There is no offset information to delete."
            message = default_message(missing) if known is None else why
            answer.responses.append(
                DeleteShareGroupOffsetsResponseTopic(topic.topic_name, None, missing, message)
            )
        yield
    reply: Reply[DeleteShareGroupOffsetsResponse] = Reply(call)

    def done(outcomes: dict[UUID, ErrorCode]) -> None:
        for topic_id, error in outcomes.items():
            message = default_message(error) if error else None
            answer.responses.append(
                DeleteShareGroupOffsetsResponseTopic(gone[topic_id], topic_id, error, message)
            )
        reply.complete(answer)

    yield from groups.share_offsets.delete(group, gone, done)
    return reply.outcome()


def _failed(error: ErrorCode, message: str | None = None) -> DeleteShareGroupOffsetsResponse:
    return DeleteShareGroupOffsetsResponse(
        error_code=error, error_message=default_message(error) if message is None else message
    )
