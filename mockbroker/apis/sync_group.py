"""SyncGroup (14): a member asks for its assignment; the leader sends the assignments of all members."""

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..policies.groups.group_loading import group_loading
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from .registry import handles


@handles(
    ApiKey.SYNC_GROUP,
    changes=True,
    source="""KafkaApis.handleSyncGroupRequest, GroupCoordinatorService.syncGroup,
        GroupMetadataManager.classicGroupSync""",
    top_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        REBALANCE_IN_PROGRESS""",
    top="""ILLEGAL_GENERATION, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID v3+, INCONSISTENT_GROUP_PROTOCOL v5+,
        INVALID_GROUP_ID, UNSUPPORTED_VERSION, GROUP_AUTHORIZATION_FAILED""",
)
def sync_group(call: Call, request: SyncGroupRequest) -> object:
    """Waits for the leader's assignment. v5 and later must name protocol type and protocol (KIP-559)."""
    groups = call.broker.groups
    if call.version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        return SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if error := groups.refuses(request.group_id):
        if groups.loads(request.group_id):
            error = call.policies[group_loading].sync
        return SyncGroupResponse(error_code=error)
    group = groups.groups.get(request.group_id)
    if group is None:
        return SyncGroupResponse(error_code=ErrorCode.UNKNOWN_MEMBER_ID)
    reply: Reply[SyncGroupResponse] = Reply(call)
    groups.kind(group).sync(group, request, reply)
    return reply.outcome()
