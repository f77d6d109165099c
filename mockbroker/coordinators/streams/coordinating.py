"""The streams groups of one coordinator."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from ...environment import Environment, Nobody, Timer
from ...outcome import Steps
from ...policies.groups.first_group_epoch import first_group_epoch
from ...policies.streams_groups.streams_answers import streams_answers
from ...policies.streams_groups.streams_heartbeats import streams_heartbeats
from ...portions import Parts
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.streams_group_heartbeat import EndpointToPartitions, StreamsGroupHeartbeatRequest
from ...protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest as Description,
)
from ...protocol.streams_group_records import InternalTopic
from ..group_records import Pairs
from ..home import Request
from ..loading import LoadedGroup
from ..member_state import MemberState
from ..members import Claim
from ..offsets import Key
from ..sessions import Sessions
from ..without_classic import WithoutClassicMembers
from . import committing
from .configuring import Problem
from .descriptions import check_described, take, wants
from .endpoints import endpoints
from .group import StreamsGroup
from .keeping import Coordinator, Keeping
from .member import JOINING, LEAVING_FOR_A_WHILE, NOTHING, Assigned, StreamsMember
from .planning import Planning
from .records import restored
from .requests import names_twice, owned_of, topology_of
from .saying import check_member_epoch, missing_tags, shutdown, take_progress, take_topology, updated
from .settings import rack_tags, session_ms
from .turns import Turns

E = ErrorCode
STREAMS_FEATURE: Final = "streams.version"
_FULL_SINCE: Final = 1
"""The version of StreamsGroupHeartbeat whose members know all statuses, and describe topologies."""


class Beat(NamedTuple):
    """What a heartbeat leads to: the member, None if it has left, and whether the answer has its tasks; what
    it is told besides; and the topics that have to be created."""

    member: StreamsMember | None
    assigned: bool = False
    statuses: tuple[Problem, ...] = ()
    endpoint_epoch: int = 0
    endpoints: list[EndpointToPartitions] | None = None
    missing: Mapping[str, InternalTopic] = {}
    wants_description: bool = False


class StreamsGroups(WithoutClassicMembers):
    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._home = coordinator.home
        self._environment: Environment = coordinator.environment
        self.planning = Planning(coordinator.home, self._delay_over)
        self._sessions = Sessions(coordinator.environment, session_ms, self.end_session)
        self._revocations: dict[tuple[str, str], Timer] = {}
        self._ending: set[tuple[str, str]] = set()
        """Groups and members whose sessions are over, but that are still there."""
        self._keeping = Keeping(coordinator)
        self.turns = Turns(coordinator.home)

    @property
    def served(self) -> bool:
        """Whether this broker serves these groups at all: only if their feature is turned on."""
        return self._home.features.get(STREAMS_FEATURE, 0) > 0

    @property
    def _is_preview(self) -> bool:
        return self._home.policies[streams_answers] == "preview"

    # -- members

    def beat(self, request: StreamsGroupHeartbeatRequest, call: Request) -> Parts[Beat]:
        """Within `turns`. ApiError for what `requests.check` finds, GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID,
        FENCED_MEMBER_EPOCH, GROUP_MAX_SIZE_REACHED, NOT_COORDINATOR, and what `Planning` finds."""
        if request.member_epoch < JOINING:
            self._leave(request)
            return Beat(None)
        owned = yield from owned_of(request)
        joins, group_id = request.member_epoch == JOINING, request.group_id
        known = group_id in self._coordinator.groups
        group = self.or_new(group_id) if joins else self._existing_for_heartbeat(group_id)
        if joins:
            self.planning.check_room(group, request.member_id, request.instance_id)
        # Real brokers write nothing if a request fails; what fails early has changed nothing.
        has_endpoints = group.reachable or request.user_endpoint is not None
        fails_late = has_endpoints or request.instance_id is not None or names_twice(request, owned)
        saved = group.saved() if known and fails_late else None
        try:
            steps = self._beat(group, request, call, owned, known=known)
            beat = yield from self._keeping.while_here(group_id, steps)
        except Exception:
            if saved is not None:
                group.undo(saved)
            raise
        yield from self._put(group)
        return beat

    def _beat(
        self,
        group: StreamsGroup,
        request: StreamsGroupHeartbeatRequest,
        call: Request,
        owned: Assigned | None,
        *,
        known: bool,
    ) -> Parts[Beat]:
        joins = request.member_epoch == JOINING
        before, replaced = self._member(group, request, owned)
        said = updated(before, request, call)
        topology = None if request.topology is None else (yield from topology_of(request.topology))
        statuses = take_topology(group, said, topology)
        topics = yield from self.planning.configure(group, owned)
        take_progress(group, request)
        unclear = names_twice(request, owned)
        after, delayed = yield from self.planning.advance(
            group, before, said, owned, topics=topics, unclear=unclear
        )
        if delayed is not None:
            statuses.append(delayed)
        if request.shutdown_application and group.shutdown_by is None:
            group.shutdown_by = after.id
        group.endpoint_epoch += self._endpoint_epoch(before, after, joins=joins)
        told = None
        if group.endpoint_epoch != request.endpoint_information_epoch:
            told = yield from self._endpoints(group, before, after, call)
        if replaced is not None:
            self._stop(group, replaced)
        self._sessions.heard(group, after.id)
        self._ending.discard((group.id, after.id))
        if after != said:
            self._await_revocation(group, after)
        assert group.configured is not None
        missing = {} if group.configured.is_ready else group.configured.missing
        if group.configured.problem is not None:
            statuses.append(group.configured.problem)
        if group.shutdown_by is not None:
            statuses.append(shutdown(group.shutdown_by))
        if call.version >= _FULL_SINCE:
            statuses += missing_tags(after, rack_tags(self._environment.configs, group.id))
        assigned = joins or after.assigned != before.assigned
        wanted = call.version >= _FULL_SINCE and wants(group, self._environment, statuses)
        endpoint_epoch = group.endpoint_epoch if known or self._is_preview else 0
        return Beat(after, assigned, tuple(statuses), endpoint_epoch, told, missing, wanted)

    def describe(self, request: Description, nodes: int, wrong: ApiError | None) -> None:
        """Keeps the description of a topology, unless it is `wrong`. ApiError also GROUP_ID_NOT_FOUND and
        what `check_described` finds."""
        group = self.existing(request.group_id)
        check_described(group, request)
        if wrong is not None:
            raise wrong
        take(group, request, nodes)
        self._keeping.write(group)

    def _endpoint_epoch(self, before: StreamsMember, after: StreamsMember, *, joins: bool) -> int:
        """By how much the epoch of endpoints goes up: members have to hear of another one, or of other tasks;
        in 4.1 also of those of members without one. Since 4.4 a member that joins again changes nothing about
        that, and one without an endpoint may have had one."""
        if self._is_preview:
            return int(any(after.assigned) if joins else after.assigned != before.assigned)
        changed = after.assigned != before.assigned and after.endpoint is not None
        if self._home.policies[streams_heartbeats] == "full":
            return int(changed or before.endpoint != after.endpoint)
        return int(changed or (joins and after.endpoint is not None))

    def _endpoints(
        self, group: StreamsGroup, before: StreamsMember, after: StreamsMember, call: Request
    ) -> Parts[list[EndpointToPartitions] | None]:
        """Of the members that have one; in 4.1 as they had it before this heartbeat, None if nobody had."""
        if not self._is_preview:
            return (yield from endpoints(self._home, group, after, call.count))
        known = replace(after, endpoint=before.endpoint)
        return (yield from endpoints(self._home, group, known, call.count)) or None

    def _leave(self, request: StreamsGroupHeartbeatRequest) -> None:
        group = self.existing(request.group_id)
        if request.shutdown_application and group.shutdown_by is None:
            group.shutdown_by = request.member_id
        member = group.known(request.member_id, request.instance_id)
        if request.instance_id is None or request.member_epoch != LEAVING_FOR_A_WHILE:
            self.remove(group, [member.id])
            return
        self._stop_revocation(group, member.id)
        active = {name: dict.fromkeys(found, JOINING) for name, found in member.assigned.active.items()}
        assigned = member.assigned._replace(active=active)
        group.put(replace(member, epoch=LEAVING_FOR_A_WHILE, assigned=assigned, revoking=NOTHING))
        self._keeping.write(group)

    def _member(
        self, group: StreamsGroup, request: StreamsGroupHeartbeatRequest, owned: Assigned | None
    ) -> tuple[StreamsMember, str | None]:
        """Its state before this heartbeat; that of a new member says nothing. And the id of the static member
        whose place it takes."""
        member_id, instance_id = request.member_id, request.instance_id
        if request.member_epoch != JOINING:
            member = group.known(member_id, instance_id)
            check_member_epoch(member, request.member_epoch, owned)
            return member, None
        if instance_id is None or instance_id not in group.static:
            known = group.members.get(member_id)
            if known is not None and self._is_preview:
                check_member_epoch(known, request.member_epoch, owned)
            return known or StreamsMember(member_id), None
        earlier = group.members[group.static[instance_id]]
        if earlier.epoch != LEAVING_FOR_A_WHILE:
            raise ApiError(
                E.UNRELEASED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} cannot join the group because the "
                f"instance id is owned by {earlier.id} member.",
            )
        replaced = None
        if earlier.id != member_id:
            replaced, target = earlier.id, group.target_of(earlier.id)
            group.remove(earlier.id)
            group.target[member_id] = target
        member = replace(earlier, id=member_id, epoch=JOINING, previous_epoch=JOINING)
        group.put(member)
        return member, replaced

    def _put(self, group: StreamsGroup) -> Parts[None]:
        """The group is there; of a new one, what no record says is forgotten."""
        earlier, graves = self._coordinator.groups.get(group.id), Pairs()
        if earlier is not group:
            if earlier is not None:
                group.offsets, graves = earlier.offsets, earlier.graves(awaits=False)
            self._coordinator.groups[group.id] = group
            group.configured, group.shutdown_by = None, None
            group.endpoint_epoch = group.first_endpoint_epoch
            group.progress.clear()
            self._coordinator.expiry.plan()
        yield from self._keeping.writing(group, graves)

    def remove(self, group: StreamsGroup, member_ids: Iterable[str]) -> None:
        """Removes members, which have to join again."""
        for member_id in member_ids:
            self._stop(group, member_id)
            group.remove(member_id)
            self.planning.removed(group)
        self._keeping.write(group)

    def _delay_over(self, group: StreamsGroup) -> None:
        self.turns.begin(group.id, Nobody(self._environment), self._assign_late(group))

    def _assign_late(self, group: StreamsGroup) -> Steps:
        if self._coordinator.groups.get(group.id) is group:
            yield from self.planning.assign_late(group)
            yield from self._keeping.writing(group)

    # -- offsets

    def check_commit(
        self, group: StreamsGroup, claim: Claim, version: int, partitions: Iterable[Key]
    ) -> ErrorCode:
        """The error if this member may not commit for these partitions now."""
        return committing.check(group, claim, version, partitions, lasting=not self._is_preview)

    def check_transactional_commit(
        self, group: StreamsGroup, claim: Claim, partitions: Iterable[Key]
    ) -> ErrorCode:
        """As for OffsetCommit; older clients name no member (KIP-447)."""
        if claim.generation == -1 and claim.names_nobody:
            return E.NONE
        error = self.check_commit(group, claim, committing.WITH_EPOCHS, partitions)
        return E.ILLEGAL_GENERATION if error is E.STALE_MEMBER_EPOCH else error

    @staticmethod
    def check_fetch(group: StreamsGroup, epoch: int, member_id: str | None) -> ErrorCode:
        """The error if this member may not fetch offsets now."""
        return committing.check_fetch(group, epoch, member_id)

    # -- sessions

    def _await_revocation(self, group: StreamsGroup, member: StreamsMember) -> None:
        """A member that does not give up what it has to within its rebalance timeout is fenced."""
        key = group.id, member.id
        self._stop_revocation(group, member.id)
        if member.state is not MemberState.UNREVOKED:
            return

        def late() -> None:
            known = group.members.get(member.id)
            if known is not None and known.epoch == member.epoch:
                self.remove(group, [member.id])

        def over() -> None:
            del self._revocations[key]
            self.turns.call(group.id, late)

        self._revocations[key] = self._environment.after(member.rebalance_timeout_ms, over)

    def end_session(self, group: StreamsGroup, member_id: str) -> None:
        """The member was silent for too long. A heartbeat of it may wait for its turn."""
        key = group.id, member_id

        def silent() -> None:
            if key in self._ending:
                self._ending.discard(key)
                if member_id in group.members:
                    self.remove(group, [member_id])

        self._ending.add(key)
        self.turns.call(group.id, silent)

    def _stop(self, group: StreamsGroup, member_id: str) -> None:
        self._sessions.stop(group, member_id)
        self._stop_revocation(group, member_id)

    def _stop_revocation(self, group: StreamsGroup, member_id: str) -> None:
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
            self._sessions.heard(group, member.id)
            self._await_revocation(group, member)

    # -- records

    def restore(self, group_id: str, partition: int, found: LoadedGroup) -> StreamsGroup:
        """A group as its records say."""
        group = self.new(group_id, partition)
        restored(group, found.streams)
        group.written = dict(found.written)
        group.offsets.committed, group.offsets.open = found.offsets, found.open
        return group

    # -- groups

    def new(self, group_id: str, partition: int) -> StreamsGroup:
        """A group that is not there yet."""
        epoch = self._home.policies[first_group_epoch] - 1

        def replicated() -> int:
            found = self._home.offsets_partition(group_id)
            return -1 if found is None else found.log.high_watermark

        return StreamsGroup(group_id, partition, epoch, replicated, in_preview=self._is_preview)

    def existing(self, group_id: str) -> StreamsGroup:
        """ApiError GROUP_ID_NOT_FOUND."""
        group = self._coordinator.groups.get(group_id)
        if group is None:
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        if not isinstance(group, StreamsGroup):
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a streams group.")
        return group

    def or_new(self, group_id: str) -> StreamsGroup:
        """The group; a new one if there is none, or (since 4.2) an empty classic one. ApiError
        GROUP_ID_NOT_FOUND."""
        group = self._coordinator.groups.get(group_id)
        if group is None or (group.type == "classic" and group.is_empty and not self._is_preview):
            return self.new(group_id, self._home.offsets_index(group_id))
        return self.existing(group_id)

    def _existing_for_heartbeat(self, group_id: str) -> StreamsGroup:
        if group_id not in self._coordinator.groups:
            raise ApiError(E.GROUP_ID_NOT_FOUND, f"Streams group {group_id} not found.")
        return self.existing(group_id)
