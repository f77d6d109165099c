"""The consumer groups of one coordinator."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ...environment import Environment
from ...policies.groups.old_member_epoch import old_member_epoch
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ...protocol.messages.leave_group import MemberIdentity, MemberResponse
from ...protocol.releases import parse
from ..group_records import tombstones
from ..home import Home, Request
from ..loading import LoadedGroup
from ..offsets import Key
from ..subscriptions import CONSUMER
from . import requests
from .group import ConsumerGroup
from .heartbeats import Heartbeats
from .member import JOINING, ConsumerMember
from .records import changes, restored
from .settings import served

if TYPE_CHECKING:
    from ..group import ClassicGroup
    from ..group_shards import GroupShards

E = ErrorCode
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
    groups: "dict[str, ClassicGroup | ConsumerGroup]"
    shards: "GroupShards"

    @property
    def expiry(self) -> Expiring: ...


class ConsumerGroups:
    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._environment = coordinator.environment
        self.heartbeats = Heartbeats(coordinator.home, self._write)
        self.served = served(coordinator.environment.configs)
        """Whether brokers serve these groups at all."""

    def heartbeat(self, request: ConsumerGroupHeartbeatRequest, call: Request) -> Beat:
        """ApiError for what `requests.check` finds, GROUP_ID_NOT_FOUND, and what `Heartbeats` finds."""
        if request.member_epoch < JOINING:
            left = self._existing(request.group_id)
            self.heartbeats.leave(left, request)
            self._write(left)
            return Beat(None, assigned=False)
        group = self._group(request)
        member, changed = self.heartbeats.beat(group, request, call)
        if self._coordinator.groups.get(group.id) is not group:
            self._begin(group)
        self._write(group)
        joins = request.member_epoch == JOINING
        return Beat(member, assigned=joins or changed or requests.says_all(request))

    def stop(self, group: ConsumerGroup) -> None:
        """Ends the timers of all members."""
        for member_id in group.members:
            self.heartbeats.stop(group.id, member_id)

    def fence(self, group: ConsumerGroup, member_id: str) -> None:
        """Removes a member, which has to join again."""
        self.heartbeats.remove(group, member_id)
        self._write(group)

    def dismiss(self, group: ConsumerGroup, leaving: MemberIdentity) -> MemberResponse:
        """LeaveGroup, by which administrators remove members."""
        member_id, instance_id = leaving.member_id, leaving.group_instance_id
        error = E.NONE
        if not member_id and instance_id is not None:
            member_id = group.static.get(instance_id, "")
        member = group.members.get(member_id)
        if member is None:
            error = E.UNKNOWN_MEMBER_ID
        elif instance_id is not None and member.instance_id != instance_id:
            known = instance_id in group.static
            error = E.FENCED_INSTANCE_ID if known else E.UNKNOWN_MEMBER_ID
        else:
            self.fence(group, member_id)
        return MemberResponse(leaving.member_id, instance_id, error)

    # -- records

    def _begin(self, group: ConsumerGroup) -> None:
        """A new group; if a classic one without members becomes a consumer group, its record goes."""
        earlier = self._coordinator.groups.get(group.id)
        shard = self._coordinator.shards.of(group.id)
        if earlier is not None and earlier.generation and shard is not None:
            shard.append(tombstones(group.id, (), of_group=True))
        self._coordinator.groups[group.id] = group
        self._coordinator.expiry.plan()

    def _write(self, group: ConsumerGroup) -> None:
        """Appends what has changed; the answer waits until that is replicated."""
        if not group.differs or self._coordinator.groups.get(group.id) is not group:
            return
        shard = self._coordinator.shards.of(group.id)
        if shard is None or not shard.current:
            return
        if pairs := changes(group, with_times=shard.layout.with_times):
            shard.append(pairs)

    def restore(self, group_id: str, partition: int, found: LoadedGroup) -> ConsumerGroup:
        """A group as its records say."""
        group = self._new(group_id, partition)
        restored(group, found.consumer)
        group.assignor = group.preferred_assignor(self.heartbeats.assignors[0])
        group.written = dict(found.written)
        group.offsets.committed, group.offsets.open = found.offsets, found.open
        return group

    # -- offsets

    def check_commit(
        self, group: ConsumerGroup, epoch: int, member_id: str, version: int, partitions: Iterable[Key]
    ) -> ErrorCode:
        """The error if this member may not commit for these partitions now
        (`ConsumerGroup.validateOffsetCommit`)."""
        if epoch < 0 and group.is_empty:
            return E.NONE
        member = group.members.get(member_id)
        if member is None:
            return E.UNKNOWN_MEMBER_ID
        if version < _WITH_EPOCHS:
            return E.UNSUPPORTED_VERSION
        if epoch == member.epoch or (epoch < member.epoch and self._had(member, epoch, partitions)):
            return E.NONE
        return E.STALE_MEMBER_EPOCH

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
        self,
        group: ConsumerGroup,
        epoch: int,
        member_id: str,
        instance_id: str | None,
        partitions: Iterable[Key],
    ) -> ErrorCode:
        """As for OffsetCommit; older clients name no member (KIP-447)."""
        if epoch == -1 and not member_id and instance_id is None:
            return E.NONE
        error = self.check_commit(group, epoch, member_id, _WITH_EPOCHS, partitions)
        return E.ILLEGAL_GENERATION if error is E.STALE_MEMBER_EPOCH else error

    @staticmethod
    def check_fetch(group: ConsumerGroup, epoch: int, member_id: str | None) -> ErrorCode:
        """The error if this member may not fetch offsets now (`ConsumerGroup.validateOffsetFetch`)."""
        if member_id is None and epoch < 0:
            return E.NONE
        member = group.members.get(member_id or "")
        if member is None:
            return E.UNKNOWN_MEMBER_ID
        return E.NONE if epoch == member.epoch else E.STALE_MEMBER_EPOCH

    # -- groups

    def _new(self, group_id: str, partition: int) -> ConsumerGroup:
        """Groups begin with epoch 1 since 4.3, before that with 0, which is over at once."""
        first = int(parse("4.3") <= self._environment.release)
        return ConsumerGroup(group_id, partition, self._environment.now_ms, first)

    def _existing(self, group_id: str) -> ConsumerGroup:
        group = self._coordinator.groups.get(group_id)
        if group is None:
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if group.type != "consumer":
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        return group

    def _group(self, request: ConsumerGroupHeartbeatRequest) -> ConsumerGroup:
        """The group; a new one for a member that joins. A classic group without members becomes a consumer
        group, and keeps its offsets."""
        group_id = request.group_id
        group = self._coordinator.groups.get(group_id)
        if group is not None and group.type == "consumer":
            return group
        if request.member_epoch != JOINING:
            if group is None:
                raise ApiError(E.GROUP_ID_NOT_FOUND, f"Consumer group {group_id} not found.")
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
        home = self._coordinator.home
        made = self._new(group_id, home.offsets_index(group_id))
        if group is None:
            return made
        if not group.is_empty:
            why = "the online upgrade is disabled"
            if group.protocol_type != CONSUMER:
                why = "the group does not use the consumer embedded protocol"
            raise ApiError(
                E.GROUP_ID_NOT_FOUND,
                f"Cannot upgrade classic group {group_id} to consumer group because {why}.",
            )
        made.offsets = group.offsets
        return made
