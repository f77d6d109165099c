"""The consumer groups of one coordinator."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from ...environment import Environment
from ...policies.groups.first_group_epoch import first_group_epoch
from ...policies.groups.old_member_epoch import old_member_epoch
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ...protocol.messages.heartbeat import HeartbeatRequest
from ...protocol.messages.join_group import JoinGroupRequest, JoinGroupResponse
from ...protocol.messages.leave_group import MemberIdentity, MemberResponse
from ...protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ...protocol.releases import facts
from ..classic.group import join_error
from ..group_records import Pairs
from ..home import Home, Request
from ..loading import LoadedGroup
from ..members import Claim
from ..named_topics import NamedTopics
from ..offsets import Key
from ..reply import Joining, Syncing
from . import requests
from .classic_members import ClassicMembers
from .group import ConsumerGroup
from .heartbeats import Heartbeats
from .member import JOINING, ConsumerMember
from .migrating import check_upgrade, downgraded, upgrade
from .planning import Planning
from .records import changes, restored
from .settings import served
from .timers import Timers

if TYPE_CHECKING:
    from ..classic.coordinating import ClassicGroups
    from ..classic.group import ClassicGroup
    from ..group_shards import GroupShards
    from ..settings import GroupSettings
    from ..share.group import ShareGroup
    from ..streams.group import StreamsGroup

E = ErrorCode
GROUP_FEATURE: Final = "group.version"
_WITH_EPOCHS = 9
"""The version of OffsetCommit from which on it has member epochs."""


class Beat(NamedTuple):
    """What a heartbeat leads to: the member, None if it has left, and whether the answer has its
    assignment."""

    member: ConsumerMember | None
    assigned: bool


class Expiring(Protocol):
    def plan(self) -> None:
        """There are groups, so offsets may expire."""


class Coordinator(Protocol):
    """The coordinator of groups of all kinds, by id."""

    home: Home
    environment: Environment
    groups: "dict[str, ClassicGroup | ConsumerGroup | ShareGroup | StreamsGroup]"
    shards: "GroupShards"
    settings: "GroupSettings"
    classics: "ClassicGroups"

    @property
    def expiry(self) -> Expiring: ...

    def settle(self, group_id: str, done: Callable[[ErrorCode], None]) -> None:
        """Calls `done` once what was written before is replicated, or with an error."""


class ConsumerGroups:
    def __init__(self, coordinator: Coordinator) -> None:
        home, configs = coordinator.home, coordinator.environment.configs
        self._coordinator = coordinator
        self._environment = coordinator.environment
        self._timers = Timers(coordinator.environment, self.end_session)
        self.planning = Planning(home, self._timers, self._looked_up)
        self._heartbeats = Heartbeats(home, self._timers, self.planning)
        self._classics = ClassicMembers(home, self._timers, self.planning, coordinator.settings.max_size)
        self._configured = served(configs)
        self._needed = int(GROUP_FEATURE in facts(coordinator.environment.release).finalized_features)

    @property
    def served(self) -> bool:
        """Whether this broker serves these groups at all: since 4.0 only if their feature is turned on."""
        return self._configured and self._coordinator.home.features.get(GROUP_FEATURE, 0) >= self._needed

    # -- members of the consumer protocol

    def beat(self, request: ConsumerGroupHeartbeatRequest, names: NamedTopics | None, call: Request) -> Beat:
        """`names` are those of the request. ApiError for what `requests.check` finds, GROUP_ID_NOT_FOUND, and
        what `Heartbeats` finds."""
        if request.member_epoch < JOINING:
            left = self._existing(request.group_id)
            gone = self._heartbeats.leave(left, request)
            if gone is None:
                self._write(left)
            else:
                self.remove(left, [gone.id])
            return Beat(None, assigned=False)
        group = self._group(request)
        member, changed = self._heartbeats.beat(group, request, names, call)
        if self._coordinator.groups.get(group.id) is group:
            self._write(group)
        else:
            self._begin(group)
        joins = request.member_epoch == JOINING
        return Beat(member, assigned=joins or changed or requests.says_all(request))

    # -- members of the classic protocol

    def join(self, group: ConsumerGroup, request: JoinGroupRequest, reply: Joining) -> None:
        answer = self._join(group, request, reply.call)
        self._coordinator.settle(
            group.id, lambda late: reply.complete(join_error("", late) if late else answer)
        )

    def _join(self, group: ConsumerGroup, request: JoinGroupRequest, call: Request) -> JoinGroupResponse:
        try:
            joined = self._classics.join(group, request, call)
        except ApiError as error:
            return join_error("", error.code)
        if isinstance(joined, str):
            return join_error(joined, E.MEMBER_ID_REQUIRED)
        if joined.downgrades:
            self._downgrade(group, rebalances=group.assignment_epoch < group.epoch)
        else:
            self._write(group)
        return joined.answer

    def sync(self, group: ConsumerGroup, request: SyncGroupRequest, reply: Syncing) -> None:
        try:
            answer = self._classics.sync(group, request)
        except ApiError as error:
            answer = SyncGroupResponse(error_code=error.code)
        self._coordinator.settle(
            group.id, lambda late: reply.complete(SyncGroupResponse(error_code=late) if late else answer)
        )

    def heartbeat(self, group: ConsumerGroup, request: HeartbeatRequest) -> ErrorCode:
        try:
            return self._classics.heartbeat(group, request)
        except ApiError as error:
            return error.code

    def leave(self, group: ConsumerGroup, leaving: Iterable[MemberIdentity]) -> list[MemberResponse]:
        """LeaveGroup, by which members of the classic protocol leave and administrators remove members."""
        answers, gone = [], dict[str, None]()
        for each in leaving:
            member_id, instance_id = each.member_id, each.group_instance_id
            error = E.NONE
            try:
                by_instance = member_id or group.static.get(instance_id or "", "")
                gone[group.known(by_instance, instance_id).id] = None
            except ApiError as refused:
                error = refused.code
            answers.append(MemberResponse(member_id, instance_id, error))
        if gone:
            self.remove(group, gone)
        return answers

    def _looked_up(self, group: ConsumerGroup) -> None:
        """Other topics match than before."""
        if self._coordinator.groups.get(group.id) is group:
            self._write(group)

    # -- the end of memberships

    def end_session(self, group: ConsumerGroup, member_id: str) -> None:
        """The member was silent for too long, or took too long for what it had to do."""
        self.remove(group, [member_id])

    def remove(self, group: ConsumerGroup, member_ids: Iterable[str]) -> None:
        """Removes members, which have to join again; perhaps the group becomes a classic one."""
        for member_id in member_ids:
            self._timers.stop(group, member_id)
            group.remove(member_id)
        if self._classics.may_downgrade(group):
            self._downgrade(group, rebalances=True)
        else:
            self.planning.removed(group)
            self._write(group)

    def _downgrade(self, group: ConsumerGroup, *, rebalances: bool) -> None:
        """The group becomes a classic one; all its members use the classic protocol already."""
        home, rebalance = self._coordinator.home, self._coordinator.classics.rebalance
        self.stop(group)
        made = downgraded(group, home, rebalance)
        self._coordinator.groups[group.id] = made
        shard = self._coordinator.shards.of(group.id)
        if shard is not None and shard.current:
            assignments = {each.id: each.assignment for each in made.members.values()}
            shard.write_at_once(
                group.graves(awaits=True) + shard.layout.group(made.id, made.metadata(assignments))
            )
        for member in made.members.values():
            rebalance.renew(member)
        if rebalances:
            rebalance.prepare(made)

    def stop(self, group: ConsumerGroup) -> None:
        """Ends the timers of all members."""
        for member_id in group.members:
            self._timers.stop(group, member_id)

    def resign(self, group: ConsumerGroup) -> None:
        """Another broker coordinates the group."""
        self.stop(group)

    def loaded(self, group: ConsumerGroup) -> None:
        self._timers.loaded(group)

    # -- records

    def _begin(self, group: ConsumerGroup) -> None:
        """A new group. If a classic one becomes a consumer group, its record goes, and its members stay."""
        earlier, graves = self._coordinator.groups.get(group.id), Pairs()
        if earlier is not None and earlier.type == "classic":
            self._coordinator.classics.stop(earlier)
            graves = earlier.graves(awaits=False)
        self._coordinator.groups[group.id] = group
        for member in group.members.values():
            self._timers.heard(group, member)
        self._coordinator.expiry.plan()
        self._write(group, graves)

    def _write(self, group: ConsumerGroup, graves: Pairs | None = None) -> None:
        """Appends what has changed, after tombstones; the answer waits until that is replicated."""
        if not group.differs or self._coordinator.groups.get(group.id) is not group:
            return
        shard = self._coordinator.shards.of(group.id)
        if shard is None or not shard.current:
            return
        if pairs := (graves or []) + changes(group, shard.layout):
            shard.write_at_once(pairs)

    def restore(self, group_id: str, partition: int, found: LoadedGroup) -> ConsumerGroup:
        """A group as its records say."""
        group = self._new(group_id, partition)
        restored(group, found.consumer)
        group.assignor = group.preferred_assignor(self.planning.assignors[0])
        group.written = dict(found.written)
        group.offsets.committed, group.offsets.open = found.offsets, found.open
        return group

    # -- offsets

    def check_commit(
        self, group: ConsumerGroup, claim: Claim, version: int, partitions: Iterable[Key]
    ) -> ErrorCode:
        """The error if this member may not commit for these partitions now
        (`ConsumerGroup.validateOffsetCommit`)."""
        epoch = claim.generation
        if epoch < 0 and group.is_empty:
            return E.NONE
        member = group.members.get(claim.member_id)
        if member is None:
            return E.UNKNOWN_MEMBER_ID
        if version < _WITH_EPOCHS and member.classic is None:
            return E.UNSUPPORTED_VERSION
        if epoch == member.epoch or (epoch < member.epoch and self._had(member, epoch, partitions)):
            return E.NONE
        return _wrong_epoch(member)

    def _had(self, member: ConsumerMember, epoch: int, partitions: Iterable[Key]) -> bool:
        """Whether an epoch that is over will do, since the member had the partitions by then."""
        home = self._coordinator.home
        if home.policies[old_member_epoch] == "refused":
            return False
        topics = home.known_topics()
        return all(
            name in topics and (since := member.since(topics[name].id, index)) is not None and since <= epoch
            for name, index in partitions
        )

    def check_transactional_commit(
        self, group: ConsumerGroup, claim: Claim, partitions: Iterable[Key]
    ) -> ErrorCode:
        """As for OffsetCommit; older clients name no member (KIP-447)."""
        if claim.generation == -1 and claim.names_nobody:
            return E.NONE
        error = self.check_commit(group, claim, _WITH_EPOCHS, partitions)
        return E.ILLEGAL_GENERATION if error is E.STALE_MEMBER_EPOCH else error

    @staticmethod
    def check_fetch(group: ConsumerGroup, epoch: int, member_id: str | None) -> ErrorCode:
        """The error if this member may not fetch offsets now (`ConsumerGroup.validateOffsetFetch`)."""
        if member_id is None and epoch < 0:
            return E.NONE
        if member_id is None:
            # Real brokers look for a member without an id, and fail.
            return E.UNKNOWN_SERVER_ERROR
        member = group.members.get(member_id)
        if member is None:
            return E.UNKNOWN_MEMBER_ID
        return E.NONE if epoch == member.epoch else _wrong_epoch(member)

    # -- groups

    def _new(self, group_id: str, partition: int) -> ConsumerGroup:
        """The first member begins the next epoch."""
        epoch = self._coordinator.home.policies[first_group_epoch] - 1
        return ConsumerGroup(group_id, partition, self._environment.now_ms, epoch)

    def _existing(self, group_id: str) -> ConsumerGroup:
        group = self._coordinator.groups.get(group_id)
        if group is None:
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if group.type != "consumer":
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        return group

    def _group(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroup:
        """The group; a new one for a member that joins. A classic group becomes a consumer group, and
        keeps its offsets."""
        group_id = request.group_id
        group = self._coordinator.groups.get(group_id)
        if group is not None and group.type == "consumer":
            return group
        if group is not None and group.type != "classic":
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        if request.member_epoch != JOINING:
            if group is None:
                raise ApiError(E.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        home = self._coordinator.home
        made = self._new(group_id, home.offsets_index(group_id))
        if group is None:
            return made
        if group.is_empty:
            made.offsets = group.offsets
            return made
        check_upgrade(group, self._environment.configs)
        # Members that wait for others would wait for ever; they join again, even if there is an error.
        self._coordinator.classics.rebalance.refuse(group, E.REBALANCE_IN_PROGRESS)
        upgrade(group, made, home)
        return made


def _wrong_epoch(member: ConsumerMember) -> ErrorCode:
    return E.STALE_MEMBER_EPOCH if member.classic is None else E.ILLEGAL_GENERATION
