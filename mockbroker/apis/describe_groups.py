"""DescribeGroups (15): the state and the members of groups."""

from ..cluster.call import Call
from ..coordinators.classic.group import ClassicGroup
from ..coordinators.classic.states import GroupState
from ..outcome import Steps
from ..policies.groups.described_assignments import described_assignments
from ..policies.groups.group_operations import group_operations
from ..portions import Pace
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_groups import (
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from .registry import handles


@handles(
    ApiKey.DESCRIBE_GROUPS,
    changes=False,
    source="""KafkaApis.handleDescribeGroupsRequest, GroupCoordinatorService.describeGroups,
        GroupMetadataManager: a group that is not there is Dead before v6 (KIP-1043)""",
    group_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    group="GROUP_ID_NOT_FOUND v6+, INVALID_GROUP_ID, GROUP_AUTHORIZATION_FAILED",
)
def describe_groups(call: Call, request: DescribeGroupsRequest) -> Steps:
    """Without an authorizer, all operations on groups are authorized. A group that is named twice is
    described twice."""
    answer, pace = DescribeGroupsResponse(), Pace()
    for group_id in request.groups:
        group = _describe(call, group_id)
        if request.include_authorized_operations and not group.error_code:
            group.authorized_operations = call.policies[group_operations]
        answer.groups.append(group)
        if pace.enough(1 + len(group.members)):
            yield
    return answer


def _describe(call: Call, group_id: str) -> DescribedGroup:
    """An unknown group is Dead, and since v6 also an error (KIP-1043)."""
    groups = call.broker.groups
    if error := groups.refuses(group_id, may_be_empty=True):
        return DescribedGroup(error_code=error, group_id=group_id)
    group = groups.groups.get(group_id)
    if group is None or group.unwritten or group.type != "classic":
        unknown = DescribedGroup(group_id=group_id, group_state=GroupState.DEAD)
        if call.version >= 6:
            why = "is not a classic group" if group is not None and group.type != "classic" else "not found"
            unknown.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            unknown.error_message = f"Group {group_id} {why}."
        return unknown
    call.count(len(group.members))
    protocol = group.protocol if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group_id=group_id,
        group_state=group.state,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol or "",
        members=_members(call, group, protocol),
    )


def _members(call: Call, group: ClassicGroup, protocol: str | None) -> list[DescribedGroupMember]:
    """Metadata is shown only for stable groups."""
    with_assignment = protocol is not None or call.policies[described_assignments] == "always"
    return [
        DescribedGroupMember(
            member.id,
            member.instance_id,
            member.client_id,
            member.client_host,
            b"" if protocol is None else member.metadata(protocol),
            member.assignment if with_assignment else b"",
        )
        for member in group.members.values()
    ]
