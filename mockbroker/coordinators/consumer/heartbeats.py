"""What members ask of a consumer group by ConsumerGroupHeartbeat (`GroupMetadataManager.java`)."""

from dataclasses import replace
from typing import Final

from ...policies.groups.joining_again import joining_again
from ...policies.groups.static_joining_again import static_joining_again
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ..home import Home, Request
from ..members import check_epoch, client_name, new_member_id
from ..named_topics import NamedTopics
from .group import ConsumerGroup
from .member import JOINING, LEAVING_FOR_A_WHILE, Assignment, ConsumerMember, Owned, partitions_of
from .planning import Planning
from .requests import owned_of
from .timers import Timers

E = ErrorCode
_NOTHING: Final = (None,) * 5


class Heartbeats:
    """What members of the consumer groups of one broker say and learn."""

    def __init__(self, home: Home, timers: Timers, planning: Planning) -> None:
        self._home = home
        self._timers = timers
        self._planning = planning

    # -- requests

    def leave(self, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest) -> ConsumerMember | None:
        """Who is to be removed: nobody if a static member leaves for a while only. ApiError
        UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        member = group.known(request.member_id, request.instance_id)
        if request.instance_id is None or request.member_epoch != LEAVING_FOR_A_WHILE:
            return member
        self._timers.done("revoke", group, member.id)
        assigned = {topic: dict.fromkeys(found, JOINING) for topic, found in member.assigned.items()}
        group.put(replace(member, epoch=LEAVING_FOR_A_WHILE, revoking={}, assigned=assigned))
        return None

    def beat(
        self,
        group: ConsumerGroup,
        request: ConsumerGroupHeartbeatRequest,
        names: NamedTopics | None,
        call: Request,
    ) -> tuple[ConsumerMember, bool]:
        """The member's state after its heartbeat, in which it has these names, and whether it was assigned
        other partitions.

        ApiError GROUP_MAX_SIZE_REACHED, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID,
        FENCED_INSTANCE_ID, INVALID_REGULAR_EXPRESSION.
        """
        self._planning.check_room(group, request.member_id, request.instance_id)
        owned = owned_of(request)
        before = self._member(group, request, owned)
        updated = self._updated(before, request, names, call)
        after = self._planning.advance(group, before, updated, owned, call.sees)
        self._timers.heard(group, after)
        if after is before:
            return after, False
        if after != updated:
            self._timers.await_revocation(group, after)
        return after, partitions_of(before.assigned) != partitions_of(after.assigned)

    # -- members

    def _member(
        self, group: ConsumerGroup, request: ConsumerGroupHeartbeatRequest, owned: Assignment | None
    ) -> ConsumerMember:
        """Its state before this heartbeat; that of a new member says nothing. Those that join with version 0
        may leave their id to the coordinator (KIP-1082)."""
        member_id, instance_id = request.member_id, request.instance_id
        if request.member_epoch != JOINING:
            member = group.known(request.member_id, request.instance_id)
            _check_epoch(member, request.member_epoch, owned)
            return member
        member_id = member_id or new_member_id(self._home.environment)
        known = group.members.get(member_id)
        again = known is not None and self._home.policies[static_joining_again] == "accepted"
        if again and known is not None and known.instance_id != instance_id:
            raise ApiError(E.INVALID_REQUEST, f"Member {member_id} can't change its instance id.")
        if instance_id is None or instance_id not in group.static:
            if known is not None and self._home.policies[joining_again] == "fenced":
                _check_epoch(known, JOINING, owned)
            return known or ConsumerMember(member_id)
        earlier = group.members[group.static[instance_id]]
        if again and earlier.epoch != LEAVING_FOR_A_WHILE:
            return earlier
        if earlier.epoch != LEAVING_FOR_A_WHILE and earlier.classic is None:
            raise ApiError(
                E.UNRELEASED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} cannot join the group because the "
                f"instance id is owned by {earlier.id} member.",
            )
        return earlier.taken_over_by(member_id)

    @staticmethod
    def _updated(
        member: ConsumerMember,
        request: ConsumerGroupHeartbeatRequest,
        names: NamedTopics | None,
        call: Request,
    ) -> ConsumerMember:
        """With what the heartbeat says about it; null says that nothing has changed."""
        regex = request.subscribed_topic_regex
        timeout_ms, name = request.rebalance_timeout_ms, client_name(call)
        said = (names, regex, request.instance_id, request.rack_id, request.server_assignor)
        if said == _NOTHING and timeout_ms == -1 and member.client_id == name and member.classic is None:
            return member
        return replace(
            member,
            instance_id=member.instance_id if request.instance_id is None else request.instance_id,
            rack_id=member.rack_id if request.rack_id is None else request.rack_id,
            rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
            assignor=member.assignor if request.server_assignor is None else request.server_assignor,
            topics=member.topics if names is None or names == member.topics else names,
            regex=member.regex if regex is None else regex,
            client_id=name,
            client_host=call.client.host,
            classic=None,
        )


def _check_epoch(member: ConsumerMember, epoch: int, owned: Assignment | None) -> None:
    """Its previous one will do if it has nothing that it was not assigned."""
    check_epoch("consumer", member, epoch, lambda: _has_at_most(owned, member.assigned))


def _has_at_most(owned: Assignment | None, assigned: Owned) -> bool:
    if owned is None:
        return False
    return all(found <= assigned.get(topic, {}).keys() for topic, found in owned.items())
