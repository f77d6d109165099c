"""Heartbeat (12): a member reports that it is alive, and learns of rebalances."""

from ..cluster.call import Call
from ..policies.groups.group_loading import group_loading
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from .registry import handles


@handles(ApiKey.HEARTBEAT)
def heartbeat(call: Call, request: HeartbeatRequest) -> HeartbeatResponse:
    groups = call.broker.groups
    error = groups.refuses(request.group_id)
    if error and groups.loads(request.group_id):
        error = call.policies[group_loading].heartbeat
    elif not error:
        group = groups.groups.get(request.group_id)
        error = ErrorCode.UNKNOWN_MEMBER_ID if group is None else groups.members.heartbeat(group, request)
    return HeartbeatResponse(error_code=error)
