"""ShareAcknowledge (79): members say what became of records that they acquired (KIP-932, KIP-1222)."""

from ..cluster.call import Call
from ..cluster.share_sessions import BEGINS, ENDS, Member
from ..coordinators.reply import Reply
from ..coordinators.share.settings import lock_ms
from ..outcome import PARKED, Steps
from ..portions import Pace
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import LeaderIdAndEpoch
from ..protocol.messages.share_acknowledge import (
    PartitionData,
    ShareAcknowledgeRequest,
    ShareAcknowledgeResponse,
    ShareAcknowledgeTopicResponse,
)
from .leaders import fetch_endpoints
from .registry import handles
from .share_acknowledgements import Outcomes, acknowledge, check_named, member_of, named

E = ErrorCode


def _go_on(call: Call, request: ShareAcknowledgeRequest) -> Member:
    """Whose session goes on with the request. ApiError UNSUPPORTED_VERSION, INVALID_REQUEST,
    UNKNOWN_SERVER_ERROR, SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH."""
    if not call.broker.groups.shares.served:
        raise ApiError(E.UNSUPPORTED_VERSION)
    member = member_of(call, request.group_id, request.member_id)
    if isinstance(member, ErrorCode):
        raise ApiError(member)
    if request.share_session_epoch == BEGINS:
        raise ApiError(E.INVALID_SHARE_SESSION_EPOCH)
    call.broker.shares.sessions.next(member, request.share_session_epoch)
    return member


def _refused(call: Call, request: ShareAcknowledgeRequest) -> ShareAcknowledgeRequest:
    member = _go_on(call, request)
    if request.share_session_epoch == ENDS:
        call.broker.shares.end_session(member)
    return request


@handles(
    ApiKey.SHARE_ACKNOWLEDGE,
    changes=True,
    source="KafkaApis.handleShareAcknowledgeRequest, SharePartitionManager.acknowledge",
    top_retry="SHARE_SESSION_NOT_FOUND, INVALID_SHARE_SESSION_EPOCH",
    top="UNSUPPORTED_VERSION, INVALID_REQUEST, GROUP_AUTHORIZATION_FAILED",
    partition_retry="""NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID,
        COORDINATOR_NOT_AVAILABLE""",
    partition="INVALID_RECORD_STATE, INVALID_REQUEST, GROUP_ID_NOT_FOUND, TOPIC_AUTHORIZATION_FAILED",
    in_session=_refused,
)
def share_acknowledge(call: Call, request: ShareAcknowledgeRequest) -> Steps:
    try:
        member = _go_on(call, request)
        yield from check_named(call, named(call, request.topics))
    except ApiError as error:
        return ShareAcknowledgeResponse(error_code=error.code)
    reply: Reply[object] = Reply(call)

    def done(outcomes: Outcomes) -> None:
        if request.share_session_epoch == ENDS:
            call.broker.shares.end_session(member)
        answer = call.in_parts(_answer(call, member.group, outcomes))
        if answer is not PARKED:
            reply.complete(answer)

    try:
        yield from acknowledge(call, request, member, done)
    except ApiError as error:
        return ShareAcknowledgeResponse(error_code=error.code)
    return reply.outcome()


def _answer(call: Call, group_id: str, outcomes: Outcomes) -> Steps:
    lock = lock_ms(call.environment.configs, group_id)
    answer = ShareAcknowledgeResponse(acquisition_lock_timeout_ms=lock)
    topics: dict[object, ShareAcknowledgeTopicResponse] = {}
    leaders, pace = set[int](), Pace()
    for (topic_id, index), outcome in outcomes.items():
        topic = topics.get(topic_id)
        if topic is None:
            topic = topics[topic_id] = ShareAcknowledgeTopicResponse(topic_id)
            answer.responses.append(topic)
        part = PartitionData(index, outcome.error, outcome.message)
        if outcome.error is E.NOT_LEADER_OR_FOLLOWER and topic_id is not None:
            partition = call.partition(call.cluster.topic_ids.get(topic_id), index)
            if partition is not None:
                part.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
                leaders.add(partition.leader)
        topic.partitions.append(part)
        if pace.enough():
            yield
    answer.node_endpoints = fetch_endpoints(call, {each for each in leaders if each >= 0})
    return answer
