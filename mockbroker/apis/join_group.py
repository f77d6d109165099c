"""JoinGroup (11): a member asks to take part in a group's next generation."""

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..protocol.api_keys import ApiKey
from ..protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from .registry import handles


@handles(ApiKey.JOIN_GROUP)
def join_group(call: Call, request: JoinGroupRequest) -> object:
    """Waits until the members of the next generation are known."""
    reply = Reply[JoinGroupResponse](call)
    call.broker.groups.join(request, reply)
    return reply.outcome()
