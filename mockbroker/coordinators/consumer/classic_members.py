"""Members of consumer groups that use the classic protocol (`classicGroupJoinToConsumerGroup` and its like in
`GroupMetadataManager.java`)."""

from dataclasses import replace
from typing import NamedTuple

from ...policies.groups.classic_member_rebalance import classic_member_rebalance
from ...policies.groups.unreadable_member import unreadable_member
from ...protocol.api_error import ApiError
from ...protocol.consumer_protocol import Partitions, Subscription, read_subscription, write_assignment
from ...protocol.errors import ErrorCode
from ...protocol.messages.heartbeat import HeartbeatRequest
from ...protocol.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse
from ...protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from ..classic.member import protocols_of
from ..classic.subscriptions import CONSUMER
from ..home import Home, Request
from ..member_state import MemberState
from ..members import client_name, new_member_id
from ..named_topics import NamedTopics
from .group import ConsumerGroup
from .member import Assignment, Classic, ConsumerMember, partitions_of
from .planning import Planning
from .settings import Migration, migration
from .timers import Timers

E = ErrorCode
_NEEDS_AN_ID = 4
"""The version of JoinGroup from which on a member without an id is given one to join with (KIP-394)."""


class Joined(NamedTuple):
    """`downgrades` is whether the member replaces the last one of the consumer protocol."""

    member: ConsumerMember
    protocol: str
    downgrades: bool

    @property
    def answer(self) -> JoinGroupResponse:
        return JoinGroupResponse(
            generation_id=self.member.epoch,
            protocol_type=CONSUMER,
            protocol_name=self.protocol,
            member_id=self.member.id,
        )


class ClassicMembers:
    def __init__(self, home: Home, timers: Timers, planning: Planning, most_classic: int) -> None:
        """`most_classic` is how many members a classic group may have."""
        self._home = home
        self._timers = timers
        self._planning = planning
        self._most_classic = most_classic

    # -- JoinGroup

    def join(self, group: ConsumerGroup, request: JoinGroupRequest, call: Request) -> Joined | str:
        """A member joins, or joins again; the id with which it has to do so if it has none.

        ApiError INCONSISTENT_GROUP_PROTOCOL, GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID;
        for a subscription that can't be read what `unreadable-member` says.
        """
        if self._migration is Migration.DISABLED:
            raise ApiError(E.INCONSISTENT_GROUP_PROTOCOL, "the group migration is disabled")
        new = not request.member_id
        member_id = request.member_id or new_member_id(self._home.environment)
        self._planning.check_room(group, member_id, request.group_instance_id)
        protocols = request.protocols
        if request.protocol_type != CONSUMER or not group.supports(each.name for each in protocols):
            raise ApiError(
                E.INCONSISTENT_GROUP_PROTOCOL, f"Member {member_id}'s protocols are not supported."
            )
        if new and request.group_instance_id is None and call.version >= _NEEDS_AN_ID:
            return member_id
        before = self._before(group, request, member_id)
        said = self._subscription(protocols)
        updated = replace(
            before,
            instance_id=request.group_instance_id or before.instance_id,
            rack_id=said.rack_id or before.rack_id,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            topics=NamedTopics(said.topics),
            regex="",
            client_id=client_name(call),
            client_host=call.client.host,
            classic=Classic(request.session_timeout_ms, protocols_of(request)),
        )
        downgrades = self._downgrades_with(group, updated)
        member = self._planning.advance(
            group, before, updated, owned_of(self._home, said.owned), call.sees, assigns=not downgrades
        )
        assert member.classic is not None
        if not downgrades:
            self._timers.done("revoke", group, member.id)
            self._timers.done("join", group, member.id)
            self._timers.heard(group, member)
            self._timers.done("sync", group, member.id)
            self._timers.await_task("sync", group, member)
        return Joined(member, member.classic.protocol, downgrades)

    @property
    def _migration(self) -> Migration:
        return migration(self._home.environment.configs)

    @staticmethod
    def _before(group: ConsumerGroup, request: JoinGroupRequest, member_id: str) -> ConsumerMember:
        """The member's state before it joins; a static one that has no member id replaces the earlier one."""
        instance_id = request.group_instance_id
        if instance_id is None:
            return group.members.get(member_id) or ConsumerMember(member_id)
        if request.member_id:
            return group.known(member_id, instance_id)
        if instance_id not in group.static:
            return ConsumerMember(member_id)
        earlier = group.members[group.static[instance_id]]
        return earlier.taken_over_by(member_id)

    def _subscription(self, protocols: list[JoinGroupRequestProtocol]) -> Subscription:
        """That of the first protocol; those of the others should be the same."""
        try:
            return read_subscription(bytes(protocols[0].metadata))
        except ValueError:
            raise ApiError(self._home.policies[unreadable_member]) from None

    # -- SyncGroup, Heartbeat

    def sync(self, group: ConsumerGroup, request: SyncGroupRequest) -> SyncGroupResponse:
        """What the member is assigned. ApiError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION,
        INCONSISTENT_GROUP_PROTOCOL, REBALANCE_IN_PROGRESS."""
        member, classic = self._checked(group, request)
        if request.protocol_type not in (None, CONSUMER):
            raise ApiError(E.INCONSISTENT_GROUP_PROTOCOL, "the protocol type is not that of the group")
        if request.protocol_name not in (None, classic.protocol):
            raise ApiError(E.INCONSISTENT_GROUP_PROTOCOL, "the protocol is not the one that it was told")
        if self._due(group) > member.epoch and member.state is not MemberState.UNREVOKED:
            self._timers.await_task("join", group, member)
            raise ApiError(E.REBALANCE_IN_PROGRESS, f"member {member.id} has to join again")
        self._timers.done("sync", group, member.id)
        self._timers.heard(group, member)
        return SyncGroupResponse(
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignment=written(self._home, partitions_of(member.assigned), classic),
        )

    def heartbeat(self, group: ConsumerGroup, request: HeartbeatRequest) -> ErrorCode:
        """REBALANCE_IN_PROGRESS if it has to join again: to catch up, to give up partitions, or to get those
        that it waits for. ApiError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, ILLEGAL_GENERATION."""
        member, _ = self._checked(group, request)
        self._timers.heard(group, member)
        if (
            member.epoch < self._due(group)
            or member.state is MemberState.UNREVOKED
            or (member.state is MemberState.UNRELEASED and not group.waits(member))
        ):
            self._timers.await_task("join", group, member)
            return E.REBALANCE_IN_PROGRESS
        return E.NONE

    def _due(self, group: ConsumerGroup) -> int:
        """The epoch that members have to join for."""
        by_group = self._home.policies[classic_member_rebalance] == "group-epoch"
        return group.epoch if by_group else group.assignment_epoch

    @staticmethod
    def _checked(
        group: ConsumerGroup, request: SyncGroupRequest | HeartbeatRequest
    ) -> tuple[ConsumerMember, Classic]:
        member = group.known(request.member_id, request.group_instance_id)
        if member.classic is None:
            raise ApiError(E.UNKNOWN_MEMBER_ID, f"Member {member.id} does not use the classic protocol.")
        if member.epoch != request.generation_id:
            raise ApiError(E.ILLEGAL_GENERATION, f"the epoch of member {member.id} is {member.epoch}")
        return member, member.classic

    # -- back to a classic group

    def may_downgrade(self, group: ConsumerGroup) -> bool:
        """Whether the group becomes a classic one with the members that are left."""
        return group.classics == len(group.members) > 0 and self._may_be_classic(group)

    def _downgrades_with(self, group: ConsumerGroup, updated: ConsumerMember) -> bool:
        """Whether this static member replaces the last one that uses the consumer protocol."""
        earlier = group.members.get(group.static.get(updated.instance_id or "", ""))
        return (
            earlier is not None
            and earlier.classic is None
            and group.classics == len(group.members) - 1
            and self._may_be_classic(group)
        )

    def _may_be_classic(self, group: ConsumerGroup) -> bool:
        return self._migration.down and len(group.members) <= self._most_classic


def owned_of(home: Home, partitions: Partitions) -> Assignment:
    """By topic id, without topics that are unknown."""
    known = home.known_topics()
    return {known[name].id: frozenset(found) for name, found in partitions if name in known}


def written(home: Home, assignment: Assignment, classic: Classic) -> bytes:
    """An assignment as the member can read it, without topics that are gone."""
    known = home.known_topics()
    partitions = {
        name: sorted(assignment[image.id]) for name, image in known.items() if image.id in assignment
    }
    return write_assignment(partitions.items(), classic.version)
