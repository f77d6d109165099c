"""ListGroups (16): the groups of the broker that is asked (KIP-518, KIP-848)."""

from typing import Final

from ..cluster.call import Call
from ..outcome import Steps
from ..policies.groups.group_loading import group_loading
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_groups import ListedGroup, ListGroupsRequest, ListGroupsResponse
from .registry import handles

_FILTERED: Final = {"NotReady": "not_ready"}
"""States that a filter has to name otherwise than answers do (`StreamsGroup.StreamsGroupState`)."""


@handles(
    ApiKey.LIST_GROUPS,
    changes=False,
    source="KafkaApis.handleListGroupsRequest, GroupCoordinatorService.listGroups",
    top_retry="COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS, NOT_COORDINATOR",
    top="CLUSTER_AUTHORIZATION_FAILED",
)
def list_groups(call: Call, request: ListGroupsRequest) -> Steps:
    """Filters ignore case; a state or type that does not exist matches nothing. COORDINATOR_LOAD_IN_PROGRESS
    while any partition of `__consumer_offsets` is loaded."""
    error, loading = ErrorCode.NONE, call.policies[group_loading]
    if call.broker.groups.shards.loading and loading.error is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS:
        error = loading.error
        if not loading.lists:
            return ListGroupsResponse(error_code=error)
    states = {state.lower().strip() for state in request.states_filter}
    types = {kind.lower() for kind in request.types_filter}
    answer = ListGroupsResponse(error_code=error)
    for portion in portions(list(call.broker.groups.groups.values())):
        answer.groups += [
            ListedGroup(group.id, group.protocol_type or "", group.state, group.type)
            for group in portion
            if not group.unwritten
            and (not states or _FILTERED.get(group.state, group.state.lower()) in states)
            and (not types or group.type in types)
        ]
        yield
    return answer
