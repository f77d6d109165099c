"""LeaveGroup (13): members leave a group, or are removed from it (KIP-345)."""

from typing import Final

from ..cluster.call import Call
from ..coordinators.classic.group import RebalanceFailedError
from ..outcome import Steps
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse, MemberResponse
from .registry import handles

_TOGETHER: Final = 64
"""So many members leave before the group rebalances."""


@handles(
    ApiKey.LEAVE_GROUP,
    changes=True,
    usual_level="top",
    source="""KafkaApis.handleLeaveGroupRequest, GroupMetadataManager.classicGroupLeave, LeaveGroupResponse:
        the top has a member's error before v3""",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="UNKNOWN_MEMBER_ID, INVALID_GROUP_ID, GROUP_AUTHORIZATION_FAILED",
    member="UNKNOWN_MEMBER_ID v3+, FENCED_INSTANCE_ID v3+",
)
def leave_group(call: Call, request: LeaveGroupRequest) -> Steps:
    """Where very many leave, the others do so later, as if they had sent another request."""
    groups = call.broker.groups
    members: list[MemberResponse] = []
    for portion in list(portions(request.members, _TOGETHER)) or [[]]:
        if members:
            yield
        if error := groups.refuses(request.group_id):
            return LeaveGroupResponse(error_code=error)
        try:
            members += groups.leave(request.group_id, portion)
        except RebalanceFailedError:
            return LeaveGroupResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    answer = LeaveGroupResponse(members=members)
    return groups.once_settled(
        call, request.group_id, answer, lambda late: LeaveGroupResponse(error_code=late)
    )
