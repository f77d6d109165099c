"""How a group gets from one generation to the next: its timers, and the answers to its members.

Sources: `GroupCoordinator.scala` up to 3.9, `GroupMetadataManager.java` since 4.0.
"""

import contextlib
import functools
from collections.abc import Callable, Mapping
from typing import Concatenate, ParamSpec

from ...policies.groups.failed_rebalance import failed_rebalance
from ...policies.groups.missing_sync import missing_sync
from ...policies.groups.static_subscription import static_subscription
from ...protocol.errors import ErrorCode
from ...protocol.group_metadata import MemberMetadata
from ...protocol.messages.join_group import (
    JoinGroupRequest,
)
from ...protocol.messages.sync_group import SyncGroupResponse
from ..home import Home
from ..members import Session, client_name
from ..reply import Joining
from ..settings import NEW_MEMBER_JOIN_TIMEOUT_MS, GroupSettings
from .group import ClassicGroup, RebalanceFailedError, join_error
from .member import ClassicMember, Protocols, protocols_of
from .states import GroupEvent, GroupState
from .subscriptions import UnreadableError

P = ParamSpec("P")
Step = Callable[Concatenate["Rebalance", ClassicGroup, P], None]
Store = Callable[[ClassicGroup, Mapping[str, bytes], Callable[[ErrorCode], None]], None]


def _or_all_fail(step: Step[P]) -> Step[P]:
    """If a step of a rebalance raises, ends the requests that wait for the rebalance, since nothing else
    would. Their members come back, or are silent from now on."""

    @functools.wraps(step)
    def contained(self: "Rebalance", group: ClassicGroup, /, *args: P.args, **kwargs: P.kwargs) -> None:
        try:
            step(self, group, *args, **kwargs)
        except RebalanceFailedError:
            # Kafka's brokers fail in the same way: members that wait continue to wait.
            raise
        except Exception as error:
            for member in group.fail(error):
                self.renew(member)
            raise

    return contained


class Rebalance:
    """How the groups of one coordinator rebalance. `store` writes a group with these assignments; it calls
    back once that is replicated, or with an error for the members."""

    def __init__(self, home: Home, settings: GroupSettings, store: Store) -> None:
        self._home = home
        self._environment = home.environment
        self._settings = settings
        self._store = store

    # -- members

    def add_pending(self, group: ClassicGroup, member_id: str, session_timeout_ms: int) -> None:
        """Expects the member to join with its new id within its session timeout (KIP-394)."""

        def expire() -> None:
            group.remove(member_id)
            with contextlib.suppress(RebalanceFailedError):
                self.maybe_complete(group)

        group.pending[member_id] = self._environment.after(session_timeout_ms, expire)

    def add_member(
        self, group: ClassicGroup, request: JoinGroupRequest, member_id: str, reply: Joining
    ) -> None:
        call = reply.call
        instance_id, host = request.group_instance_id, call.client.host
        member = self._new_member(group, member_id, instance_id, client_name(call), host)
        if group.state is GroupState.PREPARING_REBALANCE and group.initial:
            group.new_member_added = True
        _update(group, member, request)
        group.add(member, request.protocol_type)
        group.await_join(member, reply)
        member.session.renew(NEW_MEMBER_JOIN_TIMEOUT_MS)
        self.prepare_or_complete(group)

    def _new_member(
        self, group: ClassicGroup, member_id: str, instance_id: str | None, client_id: str, host: str
    ) -> ClassicMember:
        session = Session(self._environment, lambda: self.end_session(group, member))
        member = ClassicMember(member_id, instance_id, client_id, host, session)
        return member

    def update_member(
        self, group: ClassicGroup, member: ClassicMember, request: JoinGroupRequest, reply: Joining
    ) -> None:
        _update(group, member, request)
        group.await_join(member, reply)
        self.prepare_or_complete(group)

    def replace_static(
        self, group: ClassicGroup, instance_id: str, new_id: str, request: JoinGroupRequest, reply: Joining
    ) -> None:
        """A static member is back under a new member id (KIP-345). A stable group whose protocol stays the
        same does not rebalance; since v9 a leader is told so, and sends no assignment (KIP-814)."""
        leader_before, old_id = group.leader or "", group.static[instance_id]
        member = group.replace_static(instance_id, new_id)
        before = self._subscribed(group, member)
        self.renew(member)
        _update(group, member, request)
        group.await_join(member, reply)
        stays = group.state is GroupState.STABLE and group.select_protocol() == group.protocol
        if stays and self._subscribed(group, member) == before:
            leads = reply.call.version >= 9 and group.leader == new_id
            response = group.joined(new_id, with_members=leads, skip_assignment=leads)
            if reply.call.version < 9:
                # Before v9 the old leader id makes it a follower, which asks for its assignment.
                response.leader = leader_before

            def stored(error: ErrorCode) -> None:
                if error and group.static.get(instance_id) == new_id:
                    reply, member.join = member.join, None
                    group.joining -= reply is not None
                    group.replace_static(instance_id, old_id)
                    if reply is not None:
                        refused = join_error("", error)
                        refused.generation_id, refused.leader = group.generation, leader_before
                        refused.protocol_type, refused.protocol_name = group.protocol_type, group.protocol
                        reply.complete(refused)
                else:
                    group.answer_join(member, response)

            self._store(group, {each.id: each.assignment for each in group.members.values()}, stored)
        else:
            self.prepare_or_complete(group)

    def _subscribed(self, group: ClassicGroup, member: ClassicMember) -> frozenset[str] | None:
        """To which topics, where another subscription begins a generation; else None, as of one that can't
        be read."""
        looks = self._home.policies[static_subscription] == "rebalance" and group.is_consumer
        if not looks or group.state is not GroupState.STABLE:
            return None
        try:
            return group.topics_of(member)
        except UnreadableError:
            return None

    def renew(self, member: ClassicMember) -> None:
        member.session.renew(member.session_timeout_ms)

    def end_session(self, group: ClassicGroup, member: ClassicMember) -> None:
        """The member was silent for too long."""
        if not member.may_be_silent:
            self.dismiss(group, member)
            with contextlib.suppress(RebalanceFailedError):
                self.after_removal(group)

    def dismiss(self, group: ClassicGroup, member: ClassicMember) -> None:
        """Removes a member; call `after_removal` then."""
        group.answer_join(member, join_error("", ErrorCode.UNKNOWN_MEMBER_ID))
        group.remove(member.id)

    def after_removal(self, group: ClassicGroup) -> None:
        if group.state in (GroupState.STABLE, GroupState.COMPLETING_REBALANCE):
            self.prepare(group)
        else:
            self.maybe_complete(group)

    # -- generations

    def prepare_or_complete(self, group: ClassicGroup) -> None:
        if group.can_rebalance:
            self.prepare(group)
        else:
            self.maybe_complete(group)

    @_or_all_fail
    def prepare(self, group: ClassicGroup) -> None:
        """Begins a rebalance: members learn of it with their next Heartbeat, and join again."""
        if group.state is GroupState.COMPLETING_REBALANCE:
            self._assign(group, {}, ErrorCode.REBALANCE_IN_PROGRESS)
        self._stop_sync_timer(group)
        group.initial = group.state is GroupState.EMPTY
        group.fire(GroupEvent.REBALANCE)
        if group.initial:
            delay_ms = self._settings.initial_rebalance_delay_ms
            if delay_ms > 0:
                left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
                self._gather(group, delay_ms, left_ms)
            else:
                self._complete_late(group)
        elif group.all_joined:
            self.complete(group)
        elif group.rebalance_timeout_ms <= 0:
            self._complete_late(group)
        else:
            self._await_members(group)

    def maybe_complete(self, group: ClassicGroup) -> None:
        """Ends the gathering of members once all are there; a first rebalance waits for its delay in any
        case."""
        if group.state is GroupState.PREPARING_REBALANCE and not group.initial and group.all_joined:
            self.complete(group)

    def _gather(self, group: ClassicGroup, delay_ms: int, left_ms: int) -> None:
        """The delay of the first rebalance restarts while members come, for at most another `left_ms`."""

        def over() -> None:
            if group.new_member_added and left_ms > 0:
                group.new_member_added = False
                again_ms = min(self._settings.initial_rebalance_delay_ms, left_ms)
                self._gather(group, again_ms, max(left_ms - delay_ms, 0))
            else:
                self._complete_late(group)

        # The timer belongs to all members that join, not to the request that started it.
        group.join_timer = self._environment.wait(delay_ms, over, owned=False)

    def _await_members(self, group: ClassicGroup) -> None:
        timeout_ms = max(group.rebalance_timeout_ms, 1)
        group.join_timer = self._environment.after(timeout_ms, functools.partial(self._complete_late, group))

    def _complete_late(self, group: ClassicGroup) -> None:
        """If this fails, that answers no request."""
        with contextlib.suppress(RebalanceFailedError):
            self.complete(group)

    @_or_all_fail
    def complete(self, group: ClassicGroup) -> None:
        """Starts the next generation with the members that joined, and static members even if they did
        not."""
        if group.join_timer is not None:
            group.join_timer.cancel()
            group.join_timer = None
        for member in list(group.members.values()):
            if member.join is None and member.instance_id is None:
                group.remove(member.id)
        if group.members and not group.elect_joined_leader():
            self._await_members(group)
            return
        initial, group.initial = group.initial, False
        group.new_member_added = False
        try:
            group.next_generation()
        except RebalanceFailedError:
            # Whether all members have joined is not checked again.
            group.initial = initial or self._home.policies[failed_rebalance] == "stuck"
            raise
        if not group.members:
            self._store(group, {}, lambda error: None)
            return
        members = list(group.members.values())
        if self._home.policies[missing_sync] == "dismissed":
            group.syncing.update(group.members)
            timeout_ms = max(group.rebalance_timeout_ms, 1)
            group.sync_timer = self._environment.after(timeout_ms, functools.partial(self._unsynced, group))
        for member in members:
            leads = group.leader == member.id
            group.answer_join(member, group.joined(member.id, with_members=leads))
            self.renew(member)
            member.is_new = False
        if group.sync_timer is not None and group.rebalance_timeout_ms <= 0:
            group.sync_timer.cancel()
            self._unsynced(group)

    # -- assignments

    @_or_all_fail
    def assign(self, group: ClassicGroup, assignments: Mapping[str, bytes]) -> None:
        """The leader has sent the assignment, which is valid once it is stored; members that are not in it
        get an empty one."""
        generation = group.generation

        def stored(error: ErrorCode) -> None:
            if group.state is not GroupState.COMPLETING_REBALANCE or group.generation != generation:
                return
            if error:
                self._assign(group, {}, error)
                self.prepare(group)
            else:
                self._assign(group, assignments, ErrorCode.NONE)
                group.fire(GroupEvent.ASSIGNED)

        self._store(group, assignments, stored)

    def _assign(self, group: ClassicGroup, assignments: Mapping[str, bytes], error: ErrorCode) -> None:
        for member in group.members.values():
            member.assignment = assignments.get(member.id, b"")
        for member in group.members.values():
            response = SyncGroupResponse(error_code=error)
            if not error:
                response = synced(group, member)
            if group.answer_sync(member, response):
                self.renew(member)

    def synced_by(self, group: ClassicGroup, member_id: str) -> None:
        group.syncing.discard(member_id)
        if not group.syncing:
            self._stop_sync_timer(group)

    def _unsynced(self, group: ClassicGroup) -> None:
        """The rebalance timeout is over: removes members that sent no SyncGroup."""
        group.sync_timer = None
        for member_id in sorted(group.syncing):
            group.remove(member_id)
        with contextlib.suppress(RebalanceFailedError):
            self.prepare(group)

    def _stop_sync_timer(self, group: ClassicGroup) -> None:
        group.syncing.clear()
        if group.sync_timer is not None:
            group.sync_timer.cancel()
            group.sync_timer = None

    # -- moves

    def refuse(self, group: ClassicGroup, error: ErrorCode) -> None:
        """Answers all waiting requests of members with an error."""
        for member in group.members.values():
            group.answer_join(member, join_error(member.id, error))
            group.answer_sync(member, SyncGroupResponse(error_code=error))

    def adopt(
        self,
        group: ClassicGroup,
        stored: MemberMetadata,
        protocols: Protocols,
        protocol_type: str,
    ) -> None:
        """Adds a member that is not new; its session has not begun."""
        member = self._new_member(group, stored.id, stored.instance_id, stored.client_id, stored.client_host)
        group.update(member, protocols, stored.rebalance_timeout_ms, stored.session_timeout_ms)
        member.assignment, member.is_new = stored.assignment, False
        group.add(member, protocol_type)

    def stop(self, group: ClassicGroup) -> None:
        """Cancels all timers of a group that is removed."""
        self._stop_sync_timer(group)
        if group.join_timer is not None:
            group.join_timer.cancel()
            group.join_timer = None
        for member_id in list(group.pending):
            group.forget_pending(member_id)
        for member in group.members.values():
            member.session.end()


def synced(group: ClassicGroup, member: ClassicMember) -> SyncGroupResponse:
    return SyncGroupResponse(
        protocol_type=group.protocol_type,
        protocol_name=group.protocol,
        assignment=member.assignment,
    )


def _update(group: ClassicGroup, member: ClassicMember, request: JoinGroupRequest) -> None:
    protocols = protocols_of(request)
    group.update(member, protocols, request.rebalance_timeout_ms, request.session_timeout_ms)
