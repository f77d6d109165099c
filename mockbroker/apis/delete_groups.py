"""DeleteGroups (42): deletes groups without members, with their offsets (KIP-229)."""

from ..cluster.call import Call
from ..coordinators.states import GroupState
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from .registry import handles


@handles(ApiKey.DELETE_GROUPS)
def delete_groups(call: Call, request: DeleteGroupsRequest) -> DeleteGroupsResponse:
    """A group that is named twice is answered once."""
    names = dict.fromkeys(request.groups_names)
    return DeleteGroupsResponse(results=[DeletableGroupResult(name, _delete(call, name)) for name in names])


def _delete(call: Call, group_id: str) -> ErrorCode:
    groups = call.broker.groups
    if error := groups.refuses(group_id, may_be_empty=True):
        return error
    group = groups.groups.get(group_id)
    if group is None:
        return ErrorCode.GROUP_ID_NOT_FOUND
    if group.state is not GroupState.EMPTY:
        return ErrorCode.NON_EMPTY_GROUP
    groups.delete(group)
    return ErrorCode.NONE
