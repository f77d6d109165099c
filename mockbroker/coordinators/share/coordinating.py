"""The share groups of one coordinator."""

from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from uuid import UUID

from ...environment import Environment, Nobody
from ...outcome import PARKED, Steps
from ...policies.groups.first_group_epoch import first_group_epoch
from ...policies.groups.joining_again import joining_again
from ...policies.share_groups.added_share_partition import added_share_partition
from ...policies.share_groups.unheard_assignment import unheard_assignment
from ...portions import FEW, portions
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from ...protocol.share_state_log import UNKNOWN, SharePartitionKey
from ...share_partitions.kept import Kept
from ..home import Home, Request
from ..loading import LoadedGroup
from ..members import Claim, client_name
from ..named_topics import NamedTopics
from ..offsets import Key
from ..sessions import Sessions
from ..without_classic import WithoutClassicMembers
from .group import JOINING, LEAVING, ShareGroup, ShareMember
from .planning import Outcomes, Partitions, Planning
from .records import changes, restored
from .settings import session_ms

if TYPE_CHECKING:
    from ..group_shards import GroupShards

E = ErrorCode
SHARE_FEATURE: Final = "share.version"


class Beat(NamedTuple):
    """What a heartbeat leads to: the member, None if it has left, and whether the answer has its
    assignment."""

    member: ShareMember | None
    assigned: bool


class Coordinator(Protocol):
    """The coordinator of groups of all kinds, by id."""

    home: Home
    environment: Environment
    groups: dict[str, Any]
    shards: "GroupShards"


class ShareGroups(WithoutClassicMembers):
    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._home = coordinator.home
        self._environment: Environment = coordinator.environment
        self.planning = Planning(coordinator.home)
        self._sessions = Sessions(coordinator.environment, session_ms, self.end_session)

    @property
    def served(self) -> bool:
        """Whether this broker serves these groups at all: only if their feature is turned on."""
        return self._home.features.get(SHARE_FEATURE, 0) > 0

    # -- members

    def beat(self, request: ShareGroupHeartbeatRequest, names: NamedTopics | None, call: Request) -> Beat:
        """`names` are those of the request. ApiError for what `requests.check` finds, GROUP_ID_NOT_FOUND,
        UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, GROUP_MAX_SIZE_REACHED."""
        group_id, member_id = request.group_id, request.member_id
        if request.member_epoch == LEAVING:
            left = self.existing(group_id)
            left.known(member_id)
            self.remove(left, [member_id])
            return Beat(None, assigned=False)
        group = self._group(request)
        self.planning.check_room(group, member_id)
        before = self._member(group, request)
        updated = replace(
            before,
            rack_id=before.rack_id if request.rack_id is None else request.rack_id,
            topics=before.topics if names is None or names == before.topics else names,
            client_id=client_name(call),
            client_host=call.client.host,
        )
        self.put(group)
        after = self.planning.advance(group, before, updated)
        self._sessions.heard(group, member_id)
        self.initialize_soon(group, self.planning.uninitialized(group))
        self.write(group)
        return Beat(after, assigned=self._tells(request, before, after))

    def _tells(self, request: ShareGroupHeartbeatRequest, before: ShareMember, after: ShareMember) -> bool:
        """Whether the answer has the member's partitions."""
        if request.member_epoch == JOINING or request.subscribed_topic_names is not None:
            return True
        behind = request.member_epoch != before.epoch
        if behind and self._home.policies[unheard_assignment] == "told-again":
            return True
        return after.assigned != before.assigned

    def _member(self, group: ShareGroup, request: ShareGroupHeartbeatRequest) -> ShareMember:
        """Its state before this heartbeat; that of a new member says nothing."""
        member_id, epoch = request.member_id, request.member_epoch
        if epoch == JOINING:
            known = group.members.get(member_id) or ShareMember(member_id)
            if self._home.policies[joining_again] == "fenced":
                _check_epoch(known, epoch)
            return known
        known = group.known(member_id)
        _check_epoch(known, epoch)
        return known

    def remove(self, group: ShareGroup, member_ids: Iterable[str]) -> None:
        """Removes members, which have to join again. What they have acquired stays acquired until its locks
        or their share sessions end."""
        for member_id in member_ids:
            self._sessions.stop(group, member_id)
            group.remove(member_id)
            self.planning.removed(group)
        self.write(group)

    # -- the states of share partitions

    def initialize_soon(self, group: ShareGroup, partitions: Partitions) -> None:
        """Asks for states of these partitions, after the answer to the heartbeat."""
        if not partitions:
            return
        added = self._home.policies[added_share_partition]
        offsets = {
            topic_id: dict.fromkeys(sorted(some), added if topic_id in group.initialized else UNKNOWN)
            for topic_id, some in partitions.items()
        }

        def steps() -> Steps:
            yield from self.initialize(group, offsets, epoch, lambda _: None)
            return PARKED

        epoch, environment = group.epoch, self._environment

        def begin() -> None:
            self._home.in_parts(Nobody(environment), steps())

        environment.after(0, begin)

    def initialize(
        self,
        group: ShareGroup,
        offsets: Mapping[UUID, Mapping[int, int]],
        epoch: int,
        done: Callable[[Outcomes], None],
    ) -> Generator[None, None, None]:
        """Asks the share coordinator for states that begin at these offsets. Once it has answered for all of
        them, the group has those that were made, and `done` is called."""
        places = [(topic_id, index) for topic_id, found in offsets.items() for index in found]
        outcomes: Outcomes = {}

        def settled(place: tuple[UUID, int], kept: Kept) -> None:
            outcomes[place] = kept
            if len(outcomes) == len(places):
                if self._coordinator.groups.get(group.id) is group:
                    self.planning.settled(group, outcomes)
                    self.write(group)
                done(outcomes)

        if not places:
            done(outcomes)
        for portion in portions(places, FEW):
            for topic_id, index in portion:
                key = SharePartitionKey(group.id, topic_id, index)
                offset = offsets[topic_id][index]
                told = partial(settled, (topic_id, index))
                self._home.persister.initialize(key, epoch, offset, told)
            yield

    def topics_deleted(self, topics: Collection[UUID]) -> None:
        """The states of these topics' partitions go with them."""
        for group in list(self._coordinator.groups.values()):
            if group.type != "share":
                continue
            gone = [each for each in group.names if each in topics]
            for topic_id in gone:
                group.initializing.pop(topic_id, None)
                group.initialized.pop(topic_id, None)
                group.deleting.discard(topic_id)
                del group.names[topic_id]
            if gone:
                self.write(group)

    # -- offsets

    def check_commit(
        self, group: ShareGroup, claim: Claim, version: int, partitions: Iterable[Key]
    ) -> ErrorCode:
        return E.GROUP_ID_NOT_FOUND

    def check_transactional_commit(
        self, group: ShareGroup, claim: Claim, partitions: Iterable[Key]
    ) -> ErrorCode:
        return E.GROUP_ID_NOT_FOUND

    @staticmethod
    def check_fetch(group: ShareGroup, epoch: int, member_id: str | None) -> ErrorCode:
        """It has no offsets, which is no error."""
        return E.NONE

    # -- sessions

    def end_session(self, group: ShareGroup, member_id: str) -> None:
        """The member was silent for too long."""
        self.remove(group, [member_id])

    def stop(self, group: ShareGroup) -> None:
        """Ends the timers of all members."""
        for member_id in group.members:
            self._sessions.stop(group, member_id)

    def resign(self, group: ShareGroup) -> None:
        """Another broker coordinates the group."""
        self.stop(group)

    def loaded(self, group: ShareGroup) -> None:
        for member_id in group.members:
            self._sessions.heard(group, member_id)

    # -- records

    def write(self, group: ShareGroup) -> None:
        """Appends what has changed; the answer waits until that is replicated."""
        if self._coordinator.groups.get(group.id) is not group:
            return
        shard = self._coordinator.shards.of(group.id)
        if shard is None or not shard.current:
            return
        if pairs := changes(group, with_times=shard.layout.with_times):
            shard.write_at_once(pairs)

    def restore(self, group_id: str, partition: int, found: LoadedGroup) -> ShareGroup:
        """A group as its records say."""
        group = self.new(group_id, partition)
        restored(group, found.share, self._environment.now_ms)
        group.written = dict(found.written)
        return group

    # -- groups

    def new(self, group_id: str, partition: int) -> ShareGroup:
        """The first member begins the next epoch."""
        epoch = self._home.policies[first_group_epoch] - 1
        return ShareGroup(group_id, partition, self._environment.now_ms, epoch)

    def put(self, group: ShareGroup) -> None:
        self._coordinator.groups[group.id] = group

    def existing(self, group_id: str) -> ShareGroup:
        """ApiError GROUP_ID_NOT_FOUND."""
        group = self._coordinator.groups.get(group_id)
        if group is None:
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, ShareGroup):
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a share group.")
        return group

    def or_new(self, group_id: str) -> ShareGroup:
        """The group; a new one if there is none. ApiError GROUP_ID_NOT_FOUND."""
        if group_id in self._coordinator.groups:
            return self.existing(group_id)
        return self.new(group_id, self._home.offsets_index(group_id))

    def _group(self, request: ShareGroupHeartbeatRequest) -> ShareGroup:
        if request.member_epoch == JOINING:
            return self.or_new(request.group_id)
        if request.group_id not in self._coordinator.groups:
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Share group {request.group_id} not found.")
        return self.existing(request.group_id)


def _check_epoch(member: ShareMember, epoch: int) -> None:
    """The member's epoch, or its previous one, since the answer with the next may have been lost."""
    if epoch in (member.epoch, member.previous_epoch):
        return
    known = f"than the one known by the group coordinator ({member.epoch})"
    rejoin = "The member must abandon all its partitions and rejoin."
    if epoch > member.epoch:
        raise ApiError(
            E.FENCED_MEMBER_EPOCH,
            f"The share group member has a greater member epoch ({epoch}) {known}. {rejoin}",
        )
    raise ApiError(
        E.FENCED_MEMBER_EPOCH,
        f"The share group member has a smaller member epoch ({epoch}) {known}, and it does not match the "
        f"previous member epoch ({member.previous_epoch}). {rejoin}",
    )
