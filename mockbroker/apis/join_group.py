"""JoinGroup (11): a member asks to take part in a group's next generation."""

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..protocol.api_keys import ApiKey
from ..protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from .registry import handles


@handles(
    ApiKey.JOIN_GROUP,
    changes=True,
    source="""KafkaApis.handleJoinGroupRequest, GroupCoordinatorService.joinGroup,
        GroupMetadataManager.classicGroupJoin; REBALANCE_IN_PROGRESS where a group becomes a consumer
        group, and before 4.0 where a static member's record was late (GroupMetadataManager.storeGroup)""",
    top_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        REBALANCE_IN_PROGRESS""",
    top="""MEMBER_ID_REQUIRED v4+, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID v5+, UNRELEASED_INSTANCE_ID v5+,
        ILLEGAL_GENERATION, INCONSISTENT_GROUP_PROTOCOL, INVALID_SESSION_TIMEOUT, INVALID_GROUP_ID,
        GROUP_MAX_SIZE_REACHED, UNSUPPORTED_VERSION, GROUP_AUTHORIZATION_FAILED""",
)
def join_group(call: Call, request: JoinGroupRequest) -> object:
    """Waits until the members of the next generation are known."""
    reply: Reply[JoinGroupResponse] = Reply(call)
    call.broker.groups.join(request, reply)
    return reply.outcome()
