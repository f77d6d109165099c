"""The classic groups of one coordinator: what members ask of them."""

from collections.abc import Iterable, Mapping, Sequence

from ...policies.groups.completing_heartbeat import completing_heartbeat
from ...policies.groups.pending_member_leave import pending_member_leave
from ...policies.groups.sync_session import sync_session
from ...protocol.errors import ErrorCode
from ...protocol.messages.heartbeat import HeartbeatRequest
from ...protocol.messages.join_group import JoinGroupRequest
from ...protocol.messages.leave_group import MemberIdentity, MemberResponse
from ...protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ..group_shard import Answered, group_error
from ..group_shards import GroupShards
from ..home import Home
from ..loading import LoadedGroup
from ..members import Claim, client_name, new_uuid
from ..offsets import Key
from ..reply import Joining, Syncing
from ..settings import GroupSettings
from .group import ClassicGroup, RebalanceFailedError, join_error
from .member import protocols_of
from .rebalance import Rebalance, synced
from .states import GroupState

E = ErrorCode


class ClassicGroups:
    def __init__(self, home: Home, settings: GroupSettings, shards: GroupShards) -> None:
        self._home = home
        self._settings = settings
        self._shards = shards
        self.rebalance = Rebalance(home, settings, self.store)

    def store(self, group: ClassicGroup, assignments: Mapping[str, bytes], done: Answered) -> None:
        """Writes a generation with its assignment."""
        shard = self._shards.of(group.id)
        if shard is None:
            done(E.NOT_COORDINATOR)
            return
        pairs, awaits = shard.layout.group(group.id, group.metadata(assignments)), shard.awaits
        shard.write(pairs, lambda: None, lambda error: done(group_error(error, awaits=awaits)))

    # -- moves

    def restore(self, group_id: str, partition: int, found: LoadedGroup) -> ClassicGroup:
        """The group as it was written, with members whose sessions have not begun: a rebalance in progress is
        lost."""
        group, metadata = ClassicGroup(self._home, group_id, partition), found.metadata
        group.offsets.committed, group.offsets.open = found.offsets, found.open
        if metadata is None:
            return group
        for each in metadata.members:
            protocols = ((metadata.protocol or "", bytes(each.subscription)),)
            self.rebalance.adopt(group, each, protocols, metadata.protocol_type)
        group.take(metadata)
        return group

    def loaded(self, group: ClassicGroup) -> None:
        """The sessions of all members begin."""
        for member in group.members.values():
            self.rebalance.renew(member)

    def stop(self, group: ClassicGroup) -> None:
        """Ends all timers of the group."""
        self.rebalance.stop(group)

    def resign(self, group: ClassicGroup) -> None:
        """Another broker coordinates the group."""
        self.rebalance.stop(group)
        self.rebalance.refuse(group, E.NOT_COORDINATOR)

    def end_session(self, group: ClassicGroup, member_id: str) -> None:
        """The member was silent for too long."""
        self.rebalance.end_session(group, group.members[member_id])

    # -- JoinGroup

    def join(self, group: ClassicGroup, request: JoinGroupRequest, reply: Joining) -> None:
        try:
            self._join(group, request, reply)
        except RebalanceFailedError:
            # This request is answered now, and not when its member is removed.
            for member in group.members.values():
                if member.join is reply:
                    group.answer_join(member, join_error("", E.UNKNOWN_SERVER_ERROR))

    def _join(self, group: ClassicGroup, request: JoinGroupRequest, reply: Joining) -> None:
        member_id = request.member_id
        if not self._has_room(group, member_id):
            group.remove(member_id)
            reply.complete(join_error("", E.GROUP_MAX_SIZE_REACHED))
            self.rebalance.maybe_complete(group)
        elif not group.supports(request.protocol_type, [each.name for each in request.protocols]):
            reply.complete(join_error(member_id, E.INCONSISTENT_GROUP_PROTOCOL))
        elif not member_id:
            self._join_new(group, request, reply)
        elif member_id in group.pending:
            if request.group_instance_id is not None:
                # Kafka throws here, because only dynamic members are pending.
                reply.complete(join_error("", E.UNKNOWN_SERVER_ERROR))
            else:
                self.rebalance.add_member(group, request, member_id, reply)
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
            self.rebalance.replace_static(group, instance_id, new_id, request, reply)
        elif instance_id is None and call.version >= 4:
            self.rebalance.add_pending(group, new_id, request.session_timeout_ms)
            reply.complete(join_error(new_id, E.MEMBER_ID_REQUIRED))
        else:
            self.rebalance.add_member(group, request, new_id, reply)

    def _join_again(self, group: ClassicGroup, request: JoinGroupRequest, reply: Joining) -> None:
        """A rebalance follows if the leader joins a stable group, or if a member's metadata changed."""
        member = group.members[request.member_id]
        leads = group.leader == member.id
        unchanged = member.protocols == protocols_of(request)
        if unchanged and group.state is GroupState.COMPLETING_REBALANCE:
            reply.complete(group.joined(member.id, with_members=leads))
        elif unchanged and group.state is GroupState.STABLE and not leads:
            reply.complete(group.joined(member.id, with_members=False))
        else:
            self.rebalance.update_member(group, member, request, reply)

    # -- SyncGroup, Heartbeat

    def sync(self, group: ClassicGroup, request: SyncGroupRequest, reply: Syncing) -> None:
        member_id = request.member_id
        error = self._check(group, Claim(request.generation_id, member_id, request.group_instance_id))
        if not error and not _same_protocol(group, request):
            error = E.INCONSISTENT_GROUP_PROTOCOL
        if not error and group.state is GroupState.PREPARING_REBALANCE:
            error = E.REBALANCE_IN_PROGRESS
        if error:
            reply.complete(SyncGroupResponse(error_code=error))
            return
        member = group.members[member_id]
        if group.state is GroupState.STABLE:
            self.rebalance.synced_by(group, member_id)
            if self._home.policies[sync_session] == "renewed":
                self.rebalance.renew(member)
            reply.complete(synced(group, member))
            return
        member.sync = reply
        self.rebalance.synced_by(group, member_id)
        if group.leader == member_id:
            self.rebalance.assign(group, {a.member_id: a.assignment for a in request.assignments})

    def heartbeat(self, group: ClassicGroup, request: HeartbeatRequest) -> ErrorCode:
        claim = Claim(request.generation_id, request.member_id, request.group_instance_id)
        if error := self._check(group, claim):
            return error
        if (
            group.state is GroupState.COMPLETING_REBALANCE
            and self._home.policies[completing_heartbeat] == "rebalance-in-progress"
        ):
            return E.REBALANCE_IN_PROGRESS
        self.rebalance.renew(group.members[request.member_id])
        return E.REBALANCE_IN_PROGRESS if group.state is GroupState.PREPARING_REBALANCE else E.NONE

    @staticmethod
    def _check(group: ClassicGroup, claim: Claim) -> ErrorCode:
        error = group.check_member(claim.member_id, claim.instance_id)
        if not error and claim.generation != group.generation:
            return E.ILLEGAL_GENERATION
        return error

    # -- LeaveGroup

    def leave(self, group: ClassicGroup, leaving: Sequence[MemberIdentity]) -> list[MemberResponse]:
        """The group rebalances once, after the last member. RebalanceFailedError."""
        answers, rebalances = [], False
        for member in leaving:
            error, counts = self._leave(group, member)
            rebalances = rebalances or counts
            answers.append(MemberResponse(member.member_id, member.group_instance_id, error))
        if rebalances:
            self.rebalance.after_removal(group)
        else:
            self.rebalance.maybe_complete(group)
        return answers

    def _leave(self, group: ClassicGroup, leaving: MemberIdentity) -> tuple[ErrorCode, bool]:
        """Removes one member; the flag is whether the group has to rebalance because of it.

        A static member may leave by its instance id alone (KIP-345).
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
        self.rebalance.dismiss(group, group.members[member_id])
        return E.NONE, True

    # -- OffsetCommit

    def check_transactional_commit(
        self, group: ClassicGroup, claim: Claim, partitions: Iterable[Key]
    ) -> ErrorCode:
        """The error if these offsets may not be committed in a transaction; up to v2 no member is named
        (KIP-447)."""
        if claim.generation < 0 and (group.is_empty or claim.names_nobody):
            return E.NONE
        return self._check(group, claim)

    def check_commit(
        self, group: ClassicGroup, claim: Claim, version: int, partitions: Iterable[Key]
    ) -> ErrorCode:
        """The error if this member may not commit now; a commit counts as a heartbeat.

        A negative generation without a member id means a consumer outside of group management: it may commit
        while the group is empty.
        """
        if claim.generation < 0 and group.is_empty:
            return E.NONE
        if claim.generation < 0 and claim.names_nobody:
            return E.UNKNOWN_MEMBER_ID
        if error := self._check(group, claim):
            return error
        if group.state is GroupState.COMPLETING_REBALANCE:
            return E.REBALANCE_IN_PROGRESS
        self.rebalance.renew(group.members[claim.member_id])
        return E.NONE

    @staticmethod
    def check_fetch(group: ClassicGroup, epoch: int, member_id: str | None) -> ErrorCode:
        """Anybody may fetch the offsets of a classic group."""
        return E.NONE


def _same_protocol(group: ClassicGroup, request: SyncGroupRequest) -> bool:
    """Null, which is what versions up to v4 have, is not compared (KIP-559)."""
    return request.protocol_type in (None, group.protocol_type) and request.protocol_name in (
        None,
        group.protocol,
    )
