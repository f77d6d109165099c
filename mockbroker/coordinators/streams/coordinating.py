"""The streams groups of one coordinator."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ...environment import Environment, Timer
from ...policies.groups.first_group_epoch import first_group_epoch
from ...policies.groups.old_member_epoch import old_member_epoch
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.heartbeat import HeartbeatRequest
from ...protocol.messages.join_group import JoinGroupRequest
from ...protocol.messages.leave_group import MemberIdentity, MemberResponse
from ...protocol.messages.streams_group_heartbeat import EndpointToPartitions, StreamsGroupHeartbeatRequest
from ...protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ...protocol.streams_group_records import InternalTopic, TopologyValue
from ..classic.group import join_error
from ..group_records import Pairs
from ..home import Home, Request
from ..loading import LoadedGroup
from ..member_state import MemberState
from ..members import Claim, Session, client_name
from ..offsets import Key
from ..reply import Joining, Syncing
from .configuring import Problem
from .endpoints import endpoints
from .group import StreamsGroup
from .member import JOINING, Assigned, StreamsMember
from .planning import Planning
from .reconciling import contained
from .records import changes, restored
from .requests import owned_of, topology_of
from .settings import session_ms

if TYPE_CHECKING:
    from ..group_shards import GroupShards

E = ErrorCode
STREAMS_FEATURE: Final = "streams.version"
_STALE_TOPOLOGY: Final = 0
_SHUTDOWN_APPLICATION: Final = 4
_WITH_EPOCHS: Final = 9
"""The version of OffsetCommit from which on it has member epochs."""


class Beat(NamedTuple):
    """What a heartbeat leads to: the member, None if it has left, and whether the answer has its tasks; what
    it is told besides; and the topics that have to be created."""

    member: StreamsMember | None
    assigned: bool = False
    statuses: tuple[Problem, ...] = ()
    endpoint_epoch: int = 0
    endpoints: list[EndpointToPartitions] | None = None
    missing: Mapping[str, InternalTopic] = {}


class Coordinator(Protocol):
    """The coordinator of groups of all kinds, by id."""

    home: Home
    environment: Environment
    groups: dict[str, Any]
    shards: "GroupShards"

    @property
    def expiry(self) -> Any: ...


class StreamsGroups:
    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._home = coordinator.home
        self._environment: Environment = coordinator.environment
        self.planning = Planning(coordinator.home, self._delay_over)
        self._sessions: dict[tuple[str, str], Session] = {}
        self._revocations: dict[tuple[str, str], Timer] = {}

    @property
    def served(self) -> bool:
        """Whether this broker serves these groups at all: only if their feature is turned on."""
        return self._home.features.get(STREAMS_FEATURE, 0) > 0

    # -- members

    def beat(self, request: StreamsGroupHeartbeatRequest, call: Request) -> Beat:
        """ApiError for what `requests.check` finds, GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID,
        FENCED_MEMBER_EPOCH, GROUP_MAX_SIZE_REACHED, and what `Planning` finds."""
        if request.member_epoch < JOINING:
            self._leave(request)
            return Beat(None)
        joins, group_id = request.member_epoch == JOINING, request.group_id
        known = group_id in self._coordinator.groups
        group = self.or_new(group_id) if joins else self._existing_for_heartbeat(group_id)
        owned = owned_of(request)
        if joins:
            self.planning.check_room(group)
        before = self._member(group, request, owned)
        updated = _updated(before, request, call)
        topology = None if request.topology is None else topology_of(request.topology)
        statuses = _take_topology(group, updated, topology)
        after, delayed = self.planning.advance(group, before, updated, owned)
        if delayed is not None:
            statuses.append(delayed)
        self._heard(group, after)
        if after != updated:
            self._await_revocation(group, after)
        if request.shutdown_application and group.shutdown_by is None:
            group.shutdown_by = after.id
        assigned = joins or after.assigned != before.assigned
        if assigned and after.endpoint is not None:
            group.endpoint_epoch += 1
        told = None
        if group.endpoint_epoch != request.endpoint_information_epoch:
            told = endpoints(self._home, group, after)
        assert group.configured is not None
        missing = {} if group.configured.is_ready else group.configured.missing
        if group.configured.problem is not None:
            statuses.append(group.configured.problem)
        if group.shutdown_by is not None:
            statuses.append(_shutdown(group.shutdown_by))
        epoch = group.endpoint_epoch if known else 0
        self._put(group, known=known)
        return Beat(after, assigned, tuple(statuses), epoch, told, missing)

    def _leave(self, request: StreamsGroupHeartbeatRequest) -> None:
        group = self.existing(request.group_id)
        if request.shutdown_application and group.shutdown_by is None:
            group.shutdown_by = request.member_id
        group.known(request.member_id)
        self.remove(group, [request.member_id])

    @staticmethod
    def _member(
        group: StreamsGroup, request: StreamsGroupHeartbeatRequest, owned: Assigned | None
    ) -> StreamsMember:
        """Its state before this heartbeat; that of a new member says nothing."""
        if request.member_epoch == JOINING:
            return group.members.get(request.member_id) or StreamsMember(request.member_id)
        member = group.known(request.member_id)
        _check_epoch(member, request.member_epoch, owned)
        return member

    def _put(self, group: StreamsGroup, *, known: bool) -> None:
        """The group is there; of a new one, what no record says is forgotten."""
        if self._coordinator.groups.get(group.id) is not group:
            earlier, graves = self._coordinator.groups.get(group.id), Pairs()
            if earlier is not None:
                group.offsets, graves = earlier.offsets, earlier.graves(awaits=False)
            self._coordinator.groups[group.id] = group
            group.configured, group.shutdown_by, group.endpoint_epoch = None, None, 0
            self._coordinator.expiry.plan()
            self.write(group, graves)
        else:
            self.write(group)

    def remove(self, group: StreamsGroup, member_ids: Iterable[str]) -> None:
        """Removes members, which have to join again."""
        for member_id in member_ids:
            self._stop(group, member_id)
            group.remove(member_id)
            self.planning.removed(group)
        self.write(group)

    def _delay_over(self, group: StreamsGroup) -> None:
        if self._coordinator.groups.get(group.id) is group:
            self.planning.assign_late(group)
            self.write(group)

    # -- requests of other protocols

    def join(self, group: StreamsGroup, request: JoinGroupRequest, reply: Joining) -> None:
        reply.complete(join_error("", E.INCONSISTENT_GROUP_PROTOCOL))

    def sync(self, group: StreamsGroup, request: SyncGroupRequest, reply: Syncing) -> None:
        reply.complete(SyncGroupResponse(error_code=E.UNKNOWN_MEMBER_ID))

    def heartbeat(self, group: StreamsGroup, request: HeartbeatRequest) -> ErrorCode:
        return E.UNKNOWN_MEMBER_ID

    def leave(self, group: StreamsGroup, leaving: Iterable[MemberIdentity]) -> list[MemberResponse]:
        return [
            MemberResponse(each.member_id, each.group_instance_id, E.UNKNOWN_MEMBER_ID) for each in leaving
        ]

    # -- offsets

    def check_commit(
        self, group: StreamsGroup, claim: Claim, version: int, partitions: Iterable[Key]
    ) -> ErrorCode:
        """The error if this member may not commit for these partitions now
        (`StreamsGroup.validateOffsetCommit`)."""
        epoch = claim.generation
        if epoch < 0 and group.is_empty:
            return E.NONE
        member = group.members.get(claim.member_id)
        if member is None:
            return E.UNKNOWN_MEMBER_ID
        if version < _WITH_EPOCHS:
            return E.UNSUPPORTED_VERSION
        if epoch == member.epoch or (epoch < member.epoch and self._had(group, member, epoch, partitions)):
            return E.NONE
        return E.STALE_MEMBER_EPOCH

    def _had(self, group: StreamsGroup, member: StreamsMember, epoch: int, partitions: Iterable[Key]) -> bool:
        """Whether an epoch that is over will do, since the member had the tasks by then."""
        if self._home.policies[old_member_epoch] == "refused":
            return False
        for topic, index in partitions:
            subtopology = group.subtopology_of(topic)
            since = None if subtopology is None else member.since(subtopology, index)
            if since is None or since > epoch:
                return False
        return True

    def check_transactional_commit(
        self, group: StreamsGroup, claim: Claim, partitions: Iterable[Key]
    ) -> ErrorCode:
        """As for OffsetCommit; older clients name no member (KIP-447)."""
        if claim.generation == -1 and claim.names_nobody:
            return E.NONE
        error = self.check_commit(group, claim, _WITH_EPOCHS, partitions)
        return E.ILLEGAL_GENERATION if error is E.STALE_MEMBER_EPOCH else error

    @staticmethod
    def check_fetch(group: StreamsGroup, epoch: int, member_id: str | None) -> ErrorCode:
        """The error if this member may not fetch offsets now (`StreamsGroup.validateOffsetFetch`)."""
        if member_id is None and epoch < 0:
            return E.NONE
        member = group.members.get(member_id or "")
        if member is None:
            return E.UNKNOWN_MEMBER_ID
        return E.NONE if epoch == member.epoch else E.STALE_MEMBER_EPOCH

    # -- sessions

    def _heard(self, group: StreamsGroup, member: StreamsMember) -> None:
        """The member's session begins anew."""
        key = group.id, member.id
        session = self._sessions.get(key)
        if session is None:
            late = partial(self.end_session, group, member.id)
            session = self._sessions[key] = Session(self._environment, late)
        session.renew(session_ms(self._environment.configs, group.id))

    def _await_revocation(self, group: StreamsGroup, member: StreamsMember) -> None:
        """A member that does not give up what it has to within its rebalance timeout is fenced."""
        key = group.id, member.id
        if (timer := self._revocations.pop(key, None)) is not None:
            timer.cancel()
        if member.state is not MemberState.UNREVOKED:
            return

        def late() -> None:
            del self._revocations[key]
            known = group.members.get(member.id)
            if known is not None and known.epoch == member.epoch:
                self.remove(group, [member.id])

        self._revocations[key] = self._environment.after(member.rebalance_timeout_ms, late)

    def end_session(self, group: StreamsGroup, member_id: str) -> None:
        """The member was silent for too long."""
        self.remove(group, [member_id])

    def _stop(self, group: StreamsGroup, member_id: str) -> None:
        session = self._sessions.pop((group.id, member_id), None)
        if session is not None:
            session.end()
        if (timer := self._revocations.pop((group.id, member_id), None)) is not None:
            timer.cancel()

    def stop(self, group: StreamsGroup) -> None:
        """Ends the timers of the group and its members."""
        self.planning.stop(group.id)
        for member_id in group.members:
            self._stop(group, member_id)

    def resign(self, group: StreamsGroup) -> None:
        """Another broker coordinates the group."""
        self.stop(group)

    def loaded(self, group: StreamsGroup) -> None:
        for member in group.members.values():
            self._heard(group, member)
            self._await_revocation(group, member)

    # -- records

    def write(self, group: StreamsGroup, graves: Pairs | None = None) -> None:
        """Appends what has changed, after tombstones; the answer waits until that is replicated."""
        if self._coordinator.groups.get(group.id) is not group:
            return
        shard = self._coordinator.shards.of(group.id)
        if shard is None or not shard.current:
            return
        if pairs := (graves or []) + changes(group, with_times=shard.layout.with_times):
            shard.write_at_once(pairs)

    def restore(self, group_id: str, partition: int, found: LoadedGroup) -> StreamsGroup:
        """A group as its records say."""
        group = self.new(group_id, partition)
        restored(group, found.streams)
        group.metadata = self.planning.metadata_of(group)
        group.written = dict(found.written)
        group.offsets.committed, group.offsets.open = found.offsets, found.open
        return group

    # -- groups

    def new(self, group_id: str, partition: int) -> StreamsGroup:
        """The first member begins the next epoch."""
        return StreamsGroup(group_id, partition, self._home.policies[first_group_epoch] - 1)

    def existing(self, group_id: str) -> StreamsGroup:
        """ApiError GROUP_ID_NOT_FOUND."""
        group = self._coordinator.groups.get(group_id)
        if group is None:
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, StreamsGroup):
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a streams group.")
        return group

    def or_new(self, group_id: str) -> StreamsGroup:
        """The group; a new one if there is none, or an empty classic one. ApiError GROUP_ID_NOT_FOUND."""
        group = self._coordinator.groups.get(group_id)
        if group is None or (group.type == "classic" and group.is_empty):
            return self.new(group_id, self._home.offsets_index(group_id))
        return self.existing(group_id)

    def _existing_for_heartbeat(self, group_id: str) -> StreamsGroup:
        if group_id not in self._coordinator.groups:
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Streams group {group_id} not found.")
        return self.existing(group_id)


def _updated(member: StreamsMember, request: StreamsGroupHeartbeatRequest, call: Request) -> StreamsMember:
    """With what the heartbeat says about it; null says that nothing has changed."""
    timeout_ms, topology, endpoint = request.rebalance_timeout_ms, request.topology, request.user_endpoint
    tags = request.client_tags
    return replace(
        member,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        topology_epoch=member.topology_epoch if topology is None else topology.epoch,
        process_id=member.process_id if request.process_id is None else request.process_id,
        endpoint=member.endpoint if endpoint is None else (endpoint.host, endpoint.port),
        tags=member.tags if tags is None else tuple(sorted((each.key, each.value) for each in tags)),
        client_id=client_name(call),
        client_host=call.client.host,
    )


def _take_topology(
    group: StreamsGroup, member: StreamsMember, topology: TopologyValue | None
) -> list[Problem]:
    """The first topology is that of the group; members may have an earlier one. ApiError INVALID_REQUEST."""
    if group.topology is None:
        group.topology = topology
        return []
    known = group.topology
    if topology is not None and topology.epoch >= known.epoch and not _are_alike(topology, known):
        raise ApiError(E.INVALID_REQUEST, "Topology updates are not supported yet.")
    if member.topology_epoch >= known.epoch:
        return []
    text = (
        f"The member's topology epoch {member.topology_epoch} is behind the group's topology epoch "
        f"{known.epoch}."
    )
    return [Problem(_STALE_TOPOLOGY, text)]


def _are_alike(topology: TopologyValue, other: TopologyValue) -> bool:
    """Whatever the order of their subtopologies."""
    same = sorted(topology.subtopologies) == sorted(other.subtopologies)
    return same and topology.epoch == other.epoch


def _shutdown(member_id: str) -> Problem:
    return Problem(
        _SHUTDOWN_APPLICATION,
        f"Streams group member {member_id} encountered a fatal error and requested a shutdown for the entire "
        "application.",
    )


def _check_epoch(member: StreamsMember, epoch: int, owned: Assigned | None) -> None:
    """The member's epoch, or its previous one if it has nothing that it was not assigned."""
    if epoch == member.epoch or (epoch == member.previous_epoch and contained(owned, member.assigned)):
        return
    which = "greater" if epoch > member.epoch else "smaller"
    raise ApiError(
        E.FENCED_MEMBER_EPOCH,
        f"The streams group member has a {which} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({member.epoch}). The member must abandon all its partitions and rejoin.",
    )
