"""What requests of the classic protocol get from groups that have no members with it."""

from collections.abc import Iterable

from ..protocol.errors import ErrorCode
from ..protocol.messages.heartbeat import HeartbeatRequest
from ..protocol.messages.join_group import JoinGroupRequest
from ..protocol.messages.leave_group import MemberIdentity, MemberResponse
from ..protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from .classic.group import join_error
from .reply import Joining, Syncing

E = ErrorCode


class WithoutClassicMembers:
    """A coordinator's share groups, or its streams groups."""

    def join(self, group: object, request: JoinGroupRequest, reply: Joining) -> None:
        reply.complete(join_error("", E.INCONSISTENT_GROUP_PROTOCOL))

    def sync(self, group: object, request: SyncGroupRequest, reply: Syncing) -> None:
        reply.complete(SyncGroupResponse(error_code=E.UNKNOWN_MEMBER_ID))

    def heartbeat(self, group: object, request: HeartbeatRequest) -> ErrorCode:
        return E.UNKNOWN_MEMBER_ID

    def leave(self, group: object, leaving: Iterable[MemberIdentity]) -> list[MemberResponse]:
        return [
            MemberResponse(each.member_id, each.group_instance_id, E.UNKNOWN_MEMBER_ID) for each in leaving
        ]
