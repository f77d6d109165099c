"""Heartbeat (12): a member reports that it is alive, and learns of rebalances."""

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..policies.groups.group_loading import group_loading
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.HEARTBEAT,
    changes=True,
    source="""KafkaApis.handleHeartbeatRequest, GroupCoordinatorService.heartbeat (a coordinator that loads
        answers NONE), GroupMetadataManager.classicGroupHeartbeat""",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, REBALANCE_IN_PROGRESS",
    top="""ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID v3+, INVALID_GROUP_ID,
        UNSUPPORTED_VERSION, GROUP_AUTHORIZATION_FAILED""",
)
def heartbeat(call: Call, request: HeartbeatRequest) -> object:
    groups = call.broker.groups
    if error := groups.refuses(request.group_id):
        if groups.loads(request.group_id):
            error = call.policies[group_loading].heartbeat
        return HeartbeatResponse(error_code=error)
    group = groups.groups.get(request.group_id)
    error = E.UNKNOWN_MEMBER_ID if group is None else groups.kind(group).heartbeat(group, request)
    if error not in (E.NONE, E.REBALANCE_IN_PROGRESS):
        return HeartbeatResponse(error_code=error)
    reply: Reply[HeartbeatResponse] = Reply(call)
    groups.settle(request.group_id, lambda late: reply.complete(HeartbeatResponse(error_code=late or error)))
    return reply.outcome()
