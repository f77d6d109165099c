"""What members ask of a classic group: to join, to sync, to stay and to leave."""

from ..policies.groups.completing_heartbeat import completing_heartbeat
from ..policies.groups.pending_member_leave import pending_member_leave
from ..policies.groups.sync_session import sync_session
from ..protocol.errors import ErrorCode
from ..protocol.messages.heartbeat import HeartbeatRequest
from ..protocol.messages.join_group import JoinGroupRequest
from ..protocol.messages.leave_group import MemberIdentity
from ..protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from .group import ClassicGroup, join_error
from .home import Home
from .members import client_name, new_uuid
from .rebalance import Joining, Rebalance, synced
from .reply import Reply
from .settings import GroupSettings
from .states import GroupState

E = ErrorCode
Syncing = Reply[SyncGroupResponse]


class Membership:
    def __init__(self, home: Home, settings: GroupSettings, rebalance: Rebalance) -> None:
        self._home = home
        self._settings = settings
        self._rebalance = rebalance

    # -- JoinGroup

    def join(self, group: ClassicGroup, request: JoinGroupRequest, reply: Joining) -> None:
        member_id = request.member_id
        if not self._has_room(group, member_id):
            group.remove(member_id)
            reply.complete(join_error("", E.GROUP_MAX_SIZE_REACHED))
            self._rebalance.maybe_complete(group)
        elif not group.supports(request.protocol_type, request.protocols):
            reply.complete(join_error(member_id, E.INCONSISTENT_GROUP_PROTOCOL))
        elif not member_id:
            self._join_new(group, request, reply)
        elif member_id in group.pending:
            if request.group_instance_id is not None:
                # Kafka throws here, because only dynamic members are pending.
                reply.complete(join_error("", E.UNKNOWN_SERVER_ERROR))
            else:
                self._rebalance.add_member(group, request, member_id, reply)
        elif error := group.check_member(member_id, request.group_instance_id):
            reply.complete(join_error(member_id, error))
        else:
            self._join_again(group, request, reply)

    def _has_room(self, group: ClassicGroup, member_id: str) -> bool:
        """Whether `group.max.size` lets the member in (KIP-389)."""
        member, most = group.members.get(member_id), self._settings.max_size
        match group.state:
            case GroupState.PREPARING_REBALANCE:
                return (member is not None and member.join is not None) or group.joining < most
            case GroupState.COMPLETING_REBALANCE | GroupState.STABLE:
                return member is not None or len(group.members) < most
        return True

    def _join_new(self, group: ClassicGroup, request: JoinGroupRequest, reply: Joining) -> None:
        call, instance_id = reply.call, request.group_instance_id
        prefix = client_name(call) if instance_id is None else instance_id
        new_id = f"{prefix}-{new_uuid(self._home.environment)}"
        if instance_id is not None and instance_id in group.static:
            self._rebalance.replace_static(group, instance_id, new_id, request, reply)
        elif instance_id is None and call.version >= 4:
            self._rebalance.add_pending(group, new_id, request.session_timeout_ms)
            reply.complete(join_error(new_id, E.MEMBER_ID_REQUIRED))
        else:
            self._rebalance.add_member(group, request, new_id, reply)

    def _join_again(self, group: ClassicGroup, request: JoinGroupRequest, reply: Joining) -> None:
        """A rebalance follows if the leader joins a stable group, or if a member's metadata changed."""
        member = group.members[request.member_id]
        leads = group.leader == member.id
        unchanged = member.matches(request.protocols)
        if unchanged and group.state is GroupState.COMPLETING_REBALANCE:
            reply.complete(group.joined(member.id, with_members=leads))
        elif unchanged and group.state is GroupState.STABLE and not leads:
            reply.complete(group.joined(member.id, with_members=False))
        else:
            self._rebalance.update_member(group, member, request, reply)

    # -- SyncGroup, Heartbeat

    def sync(self, group: ClassicGroup, request: SyncGroupRequest, reply: Syncing) -> None:
        member_id = request.member_id
        error = self._check_generation(group, member_id, request.group_instance_id, request.generation_id)
        if not error and not _same_protocol(group, request):
            error = E.INCONSISTENT_GROUP_PROTOCOL
        if not error and group.state is GroupState.PREPARING_REBALANCE:
            error = E.REBALANCE_IN_PROGRESS
        if error:
            reply.complete(SyncGroupResponse(error_code=error))
            return
        member = group.members[member_id]
        if group.state is GroupState.STABLE:
            self._rebalance.synced_by(group, member_id)
            if self._home.policies[sync_session] == "renewed":
                self._rebalance.renew(member)
            reply.complete(synced(group, member))
            return
        member.sync = reply
        self._rebalance.synced_by(group, member_id)
        if group.leader == member_id:
            self._rebalance.assign(group, {a.member_id: a.assignment for a in request.assignments})

    def heartbeat(self, group: ClassicGroup, request: HeartbeatRequest) -> ErrorCode:
        error = self._check_generation(
            group, request.member_id, request.group_instance_id, request.generation_id
        )
        if error:
            return error
        if (
            group.state is GroupState.COMPLETING_REBALANCE
            and self._home.policies[completing_heartbeat] == "rebalance-in-progress"
        ):
            return E.REBALANCE_IN_PROGRESS
        self._rebalance.renew(group.members[request.member_id])
        return E.REBALANCE_IN_PROGRESS if group.state is GroupState.PREPARING_REBALANCE else E.NONE

    def _check_generation(
        self, group: ClassicGroup, member_id: str, instance_id: str | None, generation: int
    ) -> ErrorCode:
        error = group.check_member(member_id, instance_id)
        if not error and generation != group.generation:
            return E.ILLEGAL_GENERATION
        return error

    # -- LeaveGroup

    def leave(self, group: ClassicGroup, leaving: MemberIdentity) -> tuple[ErrorCode, bool]:
        """Removes one member; the flag is whether the group has to rebalance because of it.

        A static member may leave by its instance id alone (KIP-345). Call `left` after the last one.
        """
        member_id, instance_id = leaving.member_id, leaving.group_instance_id
        if not member_id:
            found = None if instance_id is None else group.static.get(instance_id)
            if found is None:
                return E.UNKNOWN_MEMBER_ID, False
            member_id = found
        elif member_id in group.pending:
            group.remove(member_id)
            return E.NONE, self._home.policies[pending_member_leave] == "rebalance"
        elif error := group.check_member(member_id, instance_id):
            return error, False
        self._rebalance.dismiss(group, group.members[member_id])
        return E.NONE, True

    def left(self, group: ClassicGroup, *, rebalance: bool) -> None:
        if rebalance:
            self._rebalance.after_removal(group)
        else:
            self._rebalance.maybe_complete(group)

    # -- OffsetCommit

    def check_transactional_commit(
        self, group: ClassicGroup, generation: int, member_id: str, instance_id: str | None
    ) -> ErrorCode:
        """The error if these offsets may not be committed in a transaction; up to v2 no member is named
        (KIP-447)."""
        if generation < 0 and (group.state is GroupState.EMPTY or (not member_id and instance_id is None)):
            return E.NONE
        return self._check_generation(group, member_id, instance_id, generation)

    def check_commit(
        self, group: ClassicGroup, generation: int, member_id: str, instance_id: str | None
    ) -> ErrorCode:
        """The error if this member may not commit now; a commit counts as a heartbeat.

        A negative generation without a member id means a consumer outside of group management: it may commit
        while the group is empty.
        """
        if generation < 0 and group.state is GroupState.EMPTY:
            return E.NONE
        if generation < 0 and not member_id and instance_id is None:
            return E.UNKNOWN_MEMBER_ID
        error = self._check_generation(group, member_id, instance_id, generation)
        if error:
            return error
        if group.state is GroupState.COMPLETING_REBALANCE:
            return E.REBALANCE_IN_PROGRESS
        self._rebalance.renew(group.members[member_id])
        return E.NONE


def _same_protocol(group: ClassicGroup, request: SyncGroupRequest) -> bool:
    """Null, which is what versions up to v4 have, is not compared (KIP-559)."""
    return request.protocol_type in (None, group.protocol_type) and request.protocol_name in (
        None,
        group.protocol,
    )
