"""AlterShareGroupOffsets (91): share groups without members begin anew at other offsets (KIP-932)."""

from uuid import UUID

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..coordinators.share.planning import Outcomes
from ..outcome import Steps
from ..policies.share_groups.altered_share_offsets import altered_share_offsets
from ..policies.share_groups.empty_share_group_id import empty_share_group_id
from ..portions import FEW, Pace
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.ALTER_SHARE_GROUP_OFFSETS,
    changes=True,
    source="KafkaApis.handleAlterShareGroupOffsetsRequest, GroupMetadataManager.alterShareGroupOffsets",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="""INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, NON_EMPTY_GROUP, UNSUPPORTED_VERSION,
        GROUP_AUTHORIZATION_FAILED""",
    partition_retry="UNKNOWN_TOPIC_OR_PARTITION, COORDINATOR_NOT_AVAILABLE",
    partition="FENCED_STATE_EPOCH, TOPIC_AUTHORIZATION_FAILED",
)
def alter_share_group_offsets(call: Call, request: AlterShareGroupOffsetsRequest) -> Steps:
    """A group that does not exist is created if there is any of these topics."""
    groups = call.broker.groups
    if not groups.shares.served:
        return _failed(E.UNSUPPORTED_VERSION)
    if not request.group_id and call.policies[empty_share_group_id] == "ignored":
        return AlterShareGroupOffsetsResponse()
    if error := groups.refuses(request.group_id):
        return _failed(error)
    answer, pace = AlterShareGroupOffsetsResponse(), Pace(FEW)
    stay = call.policies[altered_share_offsets] == "stay"
    offsets: dict[UUID, dict[int, int]] = {}
    for topic in request.topics:
        known = call.broker.image.topics.get(topic.topic_name)
        if known is not None and stay:
            continue
        shown = AlterShareGroupOffsetsResponseTopic(topic.topic_name, None if known is None else known.id)
        answer.responses.append(shown)
        for part in topic.partitions:
            index = part.partition_index
            if known is None or index >= len(known.partitions):
                error = E.UNKNOWN_TOPIC_OR_PARTITION
                told = AlterShareGroupOffsetsResponsePartition(index, error, default_message(error))
            else:
                told = AlterShareGroupOffsetsResponsePartition(index)
                offsets.setdefault(known.id, {})[index] = part.start_offset
            shown.partitions.append(told)
            if pace.enough():
                yield
    reply: Reply[AlterShareGroupOffsetsResponse] = Reply(call)

    def done(outcomes: Outcomes) -> None:
        for topic in answer.responses:
            for part in topic.partitions:
                if topic.topic_id is not None and not part.error_code:
                    kept = outcomes.get((topic.topic_id, part.partition_index))
                    if kept is not None:
                        part.error_code, part.error_message = kept.error, kept.message
        reply.complete(answer)

    if stay:
        return answer
    try:
        yield from groups.share_offsets.alter(
            request.group_id,
            offsets,
            done,
            creates=any(each.topic_id is not None for each in answer.responses),
        )
    except ApiError as refused:
        return _failed(refused.code, refused.message)
    return reply.outcome()


def _failed(error: ErrorCode, message: str | None = None) -> AlterShareGroupOffsetsResponse:
    return AlterShareGroupOffsetsResponse(
        error_code=error, error_message=default_message(error) if message is None else message
    )
