"""ListGroups (16): the groups of the broker that is asked (KIP-518, KIP-848)."""

from ..cluster.call import Call
from ..coordinators.group import TYPE
from ..protocol.api_keys import ApiKey
from ..protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from .registry import handles


@handles(ApiKey.LIST_GROUPS)
def list_groups(call: Call, request: ListGroupsRequest) -> ListGroupsResponse:
    """Filters ignore case; a state or type that does not exist matches nothing."""
    states = {state.lower().strip() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    return ListGroupsResponse(
        groups=[
            ListedGroup(group.id, group.protocol_type or "", group.state, TYPE)
            for group in call.broker.groups.groups.values()
            if not group.unwritten
            and (not states or group.state.lower() in states)
            and (not types or TYPE in types)
        ]
    )
