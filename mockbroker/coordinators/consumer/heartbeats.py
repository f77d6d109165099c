"""What members ask of a consumer group by ConsumerGroupHeartbeat (`GroupMetadataManager.java`)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final
from uuid import UUID

from ...environment import Timer
from ...policies.groups.assignor_change import assignor_change
from ...policies.groups.emptied_expression import emptied_expression
from ...policies.groups.joining_again import joining_again
from ...policies.groups.unsubscribed_partitions import unsubscribed_partitions
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ...protocol.releases import parse
from ..home import Home, Request
from ..members import Session, client_name
from . import regular_expressions
from .assignors import ASSIGNORS, Subscriber
from .group import ConsumerGroup
from .member import (
    JOINING,
    LEAVING_FOR_A_WHILE,
    Assignment,
    ConsumerMember,
    MemberState,
    Owned,
    partitions_of,
)
from .reconciling import reconciled
from .requests import owned_of
from .settings import assignment_ms, assignors, session_ms

E = ErrorCode
_NOTHING: Final = (None,) * 5
_Key = tuple[str, str]
"""Group and member id."""


class Heartbeats:
    """Members of the consumer groups of one broker, with their timers. `changed` is called after each change
    of a group that nobody has asked for: a member is silent for too long, or does not give up partitions."""

    def __init__(self, home: Home, changed: Callable[[ConsumerGroup], None]) -> None:
        self._home = home
        self._environment = home.environment
        self._changed = changed
        named = assignors(home.environment.configs)
        self._assignors = [each for each in named if each in ASSIGNORS] or list(ASSIGNORS)
        self._sessions: dict[_Key, Session] = {}
        self._revocations: dict[_Key, Timer] = {}

    @property
    def assignors(self) -> list[str]:
        """The names of those that members may ask for."""
        return self._assignors

    # -- requests

    def leave(self, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest) -> None:
        """A member leaves, a static one perhaps for a while only. ApiError UNKNOWN_MEMBER_ID,
        FENCED_INSTANCE_ID."""
        member = self._known(group, request)
        if request.instance_id is not None and request.member_epoch == LEAVING_FOR_A_WHILE:
            self._end_revocation(group.id, member.id)
            group.put(
                replace(
                    member,
                    epoch=LEAVING_FOR_A_WHILE,
                    revoking={},
                    assigned={
                        topic: dict.fromkeys(found, JOINING) for topic, found in member.assigned.items()
                    },
                )
            )
        else:
            self.remove(group, member.id)

    def beat(
        self, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, call: Request
    ) -> tuple[ConsumerMember, bool]:
        """The member's state after its heartbeat, and whether it was assigned other partitions.

        ApiError GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID,
        FENCED_INSTANCE_ID, INVALID_REGULAR_EXPRESSION.
        """
        self._check_room(group, request.member_id)
        owned = owned_of(request)
        before = self._member(group, request, owned)
        told = self._told(before, request, call)
        named = told.topics != before.topics
        by_regex = self._look_up(group, before, told)
        preferred = group.preferred_assignor(self._assignors[0])
        self._replace_static(group, told)
        group.put(told)
        changed = self._home.policies[assignor_change]
        first = told.assignor if changed.own_first else None
        if (
            named
            or not group.epoch
            or by_regex == "resolved"
            or self.metadata_of(group) != group.metadata
            or (changed.begins and group.preferred_assignor(self._assignors[0], first) != preferred)
        ):
            self._begin_epoch(group)
        self._assign(group)
        after = reconciled(
            told,
            group.assignment_epoch,
            group.target_of(told.id),
            self._ids(group.topics_of(told)),
            owned,
            group.epoch_of,
            changed=self._home.policies[unsubscribed_partitions] == "at-once" and (named or bool(by_regex)),
        )
        self._renew(group, after)
        if after is before:
            return after, False
        group.put(after)
        self._await_revocation(group, told, after)
        return after, partitions_of(before.assigned) != partitions_of(after.assigned)

    def remove(self, group: ConsumerGroup, member_id: str) -> None:
        """The member has left, or is fenced."""
        self.stop(group.id, member_id)
        group.remove(member_id)
        used = group.subscribed_patterns
        group.resolved = {pattern: found for pattern, found in group.resolved.items() if pattern in used}
        self._begin_epoch(group)
        if group.is_empty:
            if parse("4.4") <= self._environment.release:
                group.assignment_epoch = group.epoch
            group.state_since_ms = self._environment.now_ms

    def stop(self, group_id: str, member_id: str) -> None:
        """Ends a member's timers."""
        session = self._sessions.pop((group_id, member_id), None)
        if session is not None:
            session.end()
        self._end_revocation(group_id, member_id)

    # -- members

    def _check_room(self, group: ConsumerGroup, member_id: str) -> None:
        most = self._environment.configs.broker_int("group.consumer.max.size")
        if len(group.members) >= most and member_id not in group.members:
            raise ApiError(
                E.GROUP_MAX_SIZE_REACHED,
                f"The consumer group has reached its maximum capacity of {most} members.",
            )

    def _known(self, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember:
        instance_id, member_id = request.instance_id, request.member_id
        if instance_id is None:
            if member_id not in group.members:
                raise ApiError(
                    E.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {group.id}."
                )
            return group.members[member_id]
        if instance_id not in group.static:
            raise ApiError(E.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        owner = group.static[instance_id]
        if owner != member_id:
            raise ApiError(
                E.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member {owner}.",
            )
        return group.members[owner]

    def _member(
        self, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, owned: Assignment | None
    ) -> ConsumerMember:
        """Its state before this heartbeat; that of a new member says nothing."""
        member_id, instance_id = request.member_id, request.instance_id
        if request.member_epoch != JOINING:
            member = self._known(group, request)
            _check_epoch(member, request.member_epoch, owned)
            return member
        if instance_id is None or instance_id not in group.static:
            known = group.members.get(member_id)
            if known is not None and self._home.policies[joining_again] == "fenced":
                _check_epoch(known, JOINING, owned)
            return known or ConsumerMember(member_id)
        earlier = group.members[group.static[instance_id]]
        if earlier.epoch != LEAVING_FOR_A_WHILE:
            raise ApiError(
                E.UNRELEASED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} cannot join the group because the "
                f"instance id is owned by {earlier.id} member.",
            )
        return replace(earlier, id=member_id, epoch=JOINING, previous_epoch=JOINING)

    @staticmethod
    def _told(
        member: ConsumerMember, request: ConsumerGroupHeartbeatRequest, call: Request
    ) -> ConsumerMember:
        """With what the heartbeat says about it; null says that nothing has changed."""
        names, regex = request.subscribed_topic_names, request.subscribed_topic_regex
        timeout_ms, name = request.rebalance_timeout_ms, client_name(call)
        said = (names, regex, request.instance_id, request.rack_id, request.server_assignor)
        if said == _NOTHING and timeout_ms == -1 and member.client_id == name:
            return member
        return replace(
            member,
            instance_id=member.instance_id if request.instance_id is None else request.instance_id,
            rack_id=member.rack_id if request.rack_id is None else request.rack_id,
            rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
            assignor=member.assignor if request.server_assignor is None else request.server_assignor,
            topics=member.topics if names is None else frozenset(names),
            regex=member.regex if regex is None else regex,
            client_id=name,
            client_host=call.client.host,
        )

    def _replace_static(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """A static member that comes back has its earlier target assignment."""
        earlier = None if member.instance_id is None else group.static.get(member.instance_id)
        if earlier is not None and earlier != member.id:
            target = group.target_of(earlier)
            self.stop(group.id, earlier)
            group.remove(earlier)
            group.target[member.id] = target

    # -- what the group subscribes to

    def _look_up(self, group: ConsumerGroup, before: ConsumerMember, member: ConsumerMember) -> str:
        """What a regular expression means for the subscription: `resolved` if its topics are known, `later`
        if they are looked up, and `` if nothing has changed."""
        changed = before.regex != member.regex
        outcome = "later" if changed else ""
        if changed and not member.regex:
            outcome = "resolved" if self._home.policies[emptied_expression] == "new-epoch" else ""
        elif changed and member.regex in group.resolved:
            outcome = "resolved"
        elif changed:
            regular_expressions.check(member.regex)
        patterns = group.subscribed_patterns | ({member.regex} - {""})
        if not patterns:
            return outcome
        overdue = self._environment.now_ms > group.resolved_ms + regular_expressions.REFRESH_MS
        if (patterns != group.resolved.keys() and not group.resolved_ms) or overdue:
            group.resolved_ms = self._environment.now_ms
            self._environment.after(0, lambda: self._resolve(group))
        return outcome

    def _resolve(self, group: ConsumerGroup) -> None:
        """Looks up which topics match."""
        names = self._home.known_topics()
        patterns = group.subscribed_patterns
        before = group.resolved
        group.resolved = {each: regular_expressions.matching(each, names) for each in patterns}
        group.patterns |= patterns
        if any(group.resolved[each] != before.get(each, frozenset()) for each in patterns):
            self._begin_epoch(group)
            self._changed(group)

    def _ids(self, topics: frozenset[str]) -> dict[UUID, int]:
        """The ids of topics, with their numbers of partitions, of those that there are."""
        known = self._home.known_topics()
        return {known[name].id: len(known[name].partitions) for name in sorted(topics) if name in known}

    def metadata_of(self, group: ConsumerGroup) -> dict[UUID, int]:
        """The topics that the group subscribes to, with their numbers of partitions."""
        return self._ids(group.subscribed)

    # -- the target assignment

    def _begin_epoch(self, group: ConsumerGroup) -> None:
        group.epoch += 1
        group.metadata = self.metadata_of(group)

    def _assign(self, group: ConsumerGroup) -> None:
        """Makes the next target assignment, unless the last one was made just before."""
        if group.assignment_epoch >= group.epoch:
            return
        now_ms = self._environment.now_ms
        wait_ms = assignment_ms(self._environment.configs, group.id)
        if group.assigned_ms is not None and now_ms < group.assigned_ms + wait_ms:
            return
        counts = self.metadata_of(group)
        name = group.preferred_assignor(self._assignors[0])
        members = [
            Subscriber(
                each.id,
                each.instance_id,
                frozenset(self._ids(group.topics_of(each))),
                _of_topics(group.target_of(each.id), counts),
            )
            for each in group.members.values()
        ]
        group.aim(ASSIGNORS[name](members, counts), name, now_ms)

    # -- timers

    def _renew(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        key = group.id, member.id
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = Session(self._environment, lambda: self._fence(group, member.id))
        session.renew(session_ms(self._environment.configs, group.id))

    def renew_loaded(self, group: ConsumerGroup) -> None:
        """Sessions begin anew on another coordinator."""
        for member in group.members.values():
            self._renew(group, member)

    def _await_revocation(self, group: ConsumerGroup, before: ConsumerMember, after: ConsumerMember) -> None:
        """A member that does not give up what it has to within its rebalance timeout is fenced."""
        if after == before:
            return
        self._end_revocation(group.id, after.id)
        if after.state is not MemberState.UNREVOKED:
            return

        def late() -> None:
            self._revocations.pop((group.id, after.id), None)
            member = group.members.get(after.id)
            if member is not None and member.epoch == after.epoch:
                self._fence(group, after.id)

        timer = self._environment.after(after.rebalance_timeout_ms, late)
        self._revocations[group.id, after.id] = timer

    def _end_revocation(self, group_id: str, member_id: str) -> None:
        timer = self._revocations.pop((group_id, member_id), None)
        if timer is not None:
            timer.cancel()

    def _fence(self, group: ConsumerGroup, member_id: str) -> None:
        self.remove(group, member_id)
        self._changed(group)


def _of_topics(assignment: Assignment, counts: Mapping[UUID, int]) -> Assignment:
    """Without topics that are gone."""
    return {topic: partitions for topic, partitions in assignment.items() if topic in counts}


def _check_epoch(member: ConsumerMember, epoch: int, owned: Assignment | None) -> None:
    """The member's epoch, or its previous one if it has nothing that it was not assigned."""
    if epoch == member.epoch or (epoch == member.previous_epoch and _has_at_most(owned, member.assigned)):
        return
    which = "greater" if epoch > member.epoch else "smaller"
    raise ApiError(
        E.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {which} member epoch ({epoch}) than the one known by the group "
        f"coordinator ({member.epoch}). The member must abandon all its partitions and rejoin.",
    )


def _has_at_most(owned: Assignment | None, assigned: Owned) -> bool:
    if owned is None:
        return False
    return all(found <= assigned.get(topic, {}).keys() for topic, found in owned.items())
