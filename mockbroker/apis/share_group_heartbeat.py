"""ShareGroupHeartbeat (76): members join, learn their assignment, and leave (KIP-932)."""

from ..cluster.call import Call
from ..coordinators.groups import GroupCoordinator
from ..coordinators.share.coordinating import Beat
from ..coordinators.share.requests import check
from ..coordinators.share.settings import heartbeat_ms
from ..outcome import Steps
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.share_group_heartbeat import (
    Assignment,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
    TopicPartitions,
)
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.SHARE_GROUP_HEARTBEAT,
    changes=True,
    source="""KafkaApis.handleShareGroupHeartbeat, GroupCoordinatorService.shareGroupHeartbeat,
        GroupMetadataManager.shareGroupHeartbeat""",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="""INVALID_REQUEST, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, GROUP_MAX_SIZE_REACHED,
        GROUP_ID_NOT_FOUND, UNSUPPORTED_VERSION, TOPIC_AUTHORIZATION_FAILED, GROUP_AUTHORIZATION_FAILED""",
)
def share_group_heartbeat(call: Call, request: ShareGroupHeartbeatRequest) -> object:
    """Answered once everything that was written before is replicated. UNSUPPORTED_VERSION unless
    `share.version` is finalized."""
    groups = call.broker.groups
    if not groups.shares.served:
        return ShareGroupHeartbeatResponse(error_code=E.UNSUPPORTED_VERSION)
    return call.in_parts(_beat(call, request, groups))


def _beat(call: Call, request: ShareGroupHeartbeatRequest, groups: GroupCoordinator) -> Steps:
    """What is decided is decided in the last part."""
    try:
        check(request, call)
        names = yield from groups.prepared(request.group_id, request.subscribed_topic_names)
        if error := groups.refuses(request.group_id):
            return ShareGroupHeartbeatResponse(error_code=error)
        beat = groups.shares.beat(request, names, call)
    except ApiError as error:
        return ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
    answer = _answer(call, request, beat)
    return groups.once_settled(
        call, request.group_id, answer, lambda late: ShareGroupHeartbeatResponse(error_code=late)
    )


def _answer(call: Call, request: ShareGroupHeartbeatRequest, beat: Beat) -> ShareGroupHeartbeatResponse:
    member = beat.member
    if member is None:
        return ShareGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    assignment = None
    if beat.assigned:
        topics = [TopicPartitions(topic, sorted(found)) for topic, found in member.assigned.items()]
        assignment = Assignment(topics)
    return ShareGroupHeartbeatResponse(
        member_id=member.id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=heartbeat_ms(call.environment.configs, request.group_id),
        assignment=assignment,
    )
