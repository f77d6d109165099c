"""LeaveGroup (13): members leave a group, or are removed from it (KIP-345)."""

from ..cluster.call import Call
from ..coordinators.group import RebalanceFailedError
from ..coordinators.reply import Reply
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from .registry import handles


@handles(ApiKey.LEAVE_GROUP)
def leave_group(call: Call, request: LeaveGroupRequest) -> object:
    groups = call.broker.groups
    if error := groups.refuses(request.group_id):
        return LeaveGroupResponse(error_code=error)
    try:
        members = groups.leave(request.group_id, request.members)
    except RebalanceFailedError:
        return LeaveGroupResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    reply = Reply[LeaveGroupResponse](call)

    def done(error: ErrorCode) -> None:
        reply.complete(LeaveGroupResponse(error_code=error) if error else LeaveGroupResponse(members=members))

    groups.settle(request.group_id, done)
    return reply.outcome()
