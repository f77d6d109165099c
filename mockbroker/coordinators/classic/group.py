"""A classic group: its members, its generation, and its rules. It sets no timers itself.

Sources: `GroupMetadata.scala` up to 3.9, `ClassicGroup.java` since 4.0.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, Literal

from ...environment import Timer
from ...policies.groups.tied_protocols import tied_protocols
from ...policies.groups.unreadable_subscription import unreadable_subscription
from ...protocol.errors import ErrorCode
from ...protocol.group_metadata import GroupMetadata, MemberMetadata
from ...protocol.messages.join_group import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from ...protocol.messages.sync_group import SyncGroupResponse
from ...protocol.offsets_log import group_key
from ..group_records import Pairs
from ..home import Home
from ..offsets import Offsets
from ..reply import Reply
from .member import ClassicMember, Protocols
from .states import TRANSITIONS, GroupEvent, GroupState
from .subscriptions import CONSUMER, UnreadableError, subscribed_topics


class ClassicGroup:
    """`members` are by member id; `static` are member ids by instance id (KIP-345); `pending` are members
    that were given an id and have not joined with it yet (KIP-394); `syncing` are those whose SyncGroup has
    not come yet.

    `joining` is how many members have a JoinGroup that waits. `initial` is whether the first rebalance still
    waits for its delay. `subscribed` is None while the topics of the consumers are unknown.
    """

    type: Final[Literal["classic"]] = "classic"
    """The type in ListGroups v5 and later (KIP-848)."""

    def __init__(self, home: Home, group_id: str, partition: int) -> None:
        self._home = home
        self.id = group_id
        self.partition = partition
        """Its partition of `__consumer_offsets`."""
        self.state = GroupState.EMPTY
        self.state_since_ms: int | None = home.environment.now_ms
        """None if no record says it."""
        self.generation = 0
        self.protocol_type: str | None = None
        self.protocol: str | None = None
        self.leader: str | None = None
        self.members: dict[str, ClassicMember] = {}
        self.static: dict[str, str] = {}
        self.pending: dict[str, Timer] = {}
        self.syncing: set[str] = set()
        self.joining = 0
        self.initial = False
        self.new_member_added = False
        self.subscribed: frozenset[str] | None = None
        self.offsets = Offsets()
        self.unwritten = False
        """Whether it began without a record and has had none since: DescribeGroups and ListGroups do not know
        it yet."""
        self.join_timer: Timer | None = None
        self.sync_timer: Timer | None = None
        self._supported: Counter[str] = Counter()

    def delete(self) -> None:
        self.fire(GroupEvent.DELETED)

    def graves(self, *, awaits: bool) -> Pairs:
        """The tombstone of the group. Up to 3.9, where nothing `awaits` replication, one that never had a
        generation needs none."""
        return [(group_key(self.id), None)] if awaits or self.generation > 0 else []

    def fire(self, event: GroupEvent) -> None:
        """Takes the group to the next state. KeyError if the table has none."""
        self.state = TRANSITIONS[self.state][event]
        self.state_since_ms = self._home.environment.now_ms

    @property
    def is_empty(self) -> bool:
        return self.state is GroupState.EMPTY

    @property
    def is_stable(self) -> bool:
        return self.state is GroupState.STABLE

    @property
    def can_rebalance(self) -> bool:
        return GroupEvent.REBALANCE in TRANSITIONS[self.state]

    @property
    def rebalance_timeout_ms(self) -> int:
        """How long members may take to join again: the longest of their timeouts."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def all_joined(self) -> bool:
        return self.joining == len(self.members) and not self.pending

    @property
    def is_consumer(self) -> bool:
        return self.protocol_type == CONSUMER

    # -- members

    def add(self, member: ClassicMember, protocol_type: str) -> None:
        """Adds a member with its protocols; the first one becomes the leader."""
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id
        if not self.members:
            self.protocol_type = protocol_type
        if self.leader is None:
            self.leader = member.id
        self.members[member.id] = member
        self._supported.update(name for name, _ in member.protocols)
        self.forget_pending(member.id)

    def update(
        self,
        member: ClassicMember,
        protocols: Protocols,
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
    ) -> None:
        if member.id in self.members:
            self._no_longer_supported(member)
            self._supported.update(name for name, _ in protocols)
        member.protocols = protocols
        member.rebalance_timeout_ms = rebalance_timeout_ms
        member.session_timeout_ms = session_timeout_ms

    def remove(self, member_id: str) -> None:
        """Removes a member, pending or not; another one becomes the leader. Its waiting requests are not
        answered."""
        member = self.members.pop(member_id, None)
        if member is not None:
            member.session.end()
            self._no_longer_supported(member)
            self.joining -= member.join is not None
            if member.instance_id is not None:
                self.static.pop(member.instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.forget_pending(member_id)
        self.syncing.discard(member_id)

    def forget_pending(self, member_id: str) -> None:
        timer = self.pending.pop(member_id, None)
        if timer is not None:
            timer.cancel()

    def replace_static(self, instance_id: str, new_id: str) -> ClassicMember:
        """Gives the member of `instance_id` a new id; a request that waits under the old id is fenced.

        An id whose SyncGroup has not come stays in `syncing`, as in Kafka: when its time is over, the group
        rebalances once more, although no member is missing.
        """
        old_id = self.static[instance_id]
        member = self.members.pop(old_id)
        self.answer_join(member, join_error(old_id, ErrorCode.FENCED_INSTANCE_ID))
        self.answer_sync(member, SyncGroupResponse(error_code=ErrorCode.FENCED_INSTANCE_ID))
        member.id = new_id
        self.members[new_id] = member
        self.static[instance_id] = new_id
        if self.leader == old_id:
            self.leader = new_id
        return member

    def check_member(self, member_id: str, instance_id: str | None) -> ErrorCode:
        """UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID if it is not the member that it claims to be."""
        if instance_id is not None:
            current = self.static.get(instance_id)
            if current is not None and current != member_id:
                return ErrorCode.FENCED_INSTANCE_ID
            if current is None:
                return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member_id in self.members else ErrorCode.UNKNOWN_MEMBER_ID

    def elect_joined_leader(self) -> bool:
        """Makes sure that the leader is a member that has joined. False if none has."""
        if self.leader is None:
            return False
        if self.members[self.leader].join is None:
            joined = next((m.id for m in self.members.values() if m.join is not None), None)
            if joined is None:
                return False
            self.leader = joined
        return True

    # -- protocols

    def supports(self, protocol_type: str, names: Collection[str]) -> bool:
        """Whether a member with these protocols may join: all members must support one of them."""
        if self.state is GroupState.EMPTY:
            return bool(protocol_type and names)
        return self.protocol_type == protocol_type and any(
            self._supported[name] == len(self.members) for name in names
        )

    def _no_longer_supported(self, member: ClassicMember) -> None:
        for name, _ in member.protocols:
            self._supported[name] -= 1
            if not self._supported[name]:
                del self._supported[name]

    def candidates(self) -> set[str]:
        """The protocols that all members support."""
        count = len(self.members)
        return {name for name, supported in self._supported.items() if supported == count}

    def select_protocol(self) -> str:
        """Of the protocols that all members support, the one that most prefer."""
        candidates = self.candidates()
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return self._home.policies[tied_protocols](votes)

    def is_subscribed(self, topic: str) -> bool:
        """Whether consumers of the group subscribe to `topic`, or may do so."""
        return self.is_consumer if self.subscribed is None else topic in self.subscribed

    # -- generations

    def next_generation(self) -> None:
        """RebalanceFailedError; then the group has the generation and protocol of the next one, but not its
        state."""
        self.generation += 1
        if self.members:
            if not self.candidates():
                # A member that names a protocol twice counts twice as supporting it.
                raise RebalanceFailedError
            self.protocol = self.select_protocol()
            self.subscribed = self._subscriptions()
            self.fire(GroupEvent.JOINED)
        else:
            self.protocol = None
            self.subscribed = self._subscriptions()
            self.fire(GroupEvent.DESERTED)
        self.syncing.clear()

    def _subscriptions(self) -> frozenset[str] | None:
        if not self.is_consumer:
            return None
        try:
            return self.topics_of(*self.members.values())
        except UnreadableError:
            if self._home.policies[unreadable_subscription] == "fails":
                raise RebalanceFailedError from None
            return None

    def topics_of(self, *members: ClassicMember) -> frozenset[str] | None:
        """What these members of a consumer group subscribe to by its protocol, as `subscribed_topics`."""
        protocol = self.protocol
        return (
            frozenset()
            if protocol is None
            else subscribed_topics(each.metadata(protocol) for each in members)
        )

    def metadata(self, assignments: Mapping[str, bytes]) -> GroupMetadata:
        """What is written of the group: a generation with its assignment, or one without members."""
        protocol = self.protocol
        members = [
            MemberMetadata(
                member.id,
                member.instance_id,
                member.client_id,
                member.client_host,
                member.rebalance_timeout_ms,
                member.session_timeout_ms,
                b"" if protocol is None else bytes(member.metadata(protocol)),
                bytes(assignments.get(member.id, b"")),
            )
            for member in self.members.values()
        ]
        since_ms = -1 if self.state_since_ms is None else self.state_since_ms
        return GroupMetadata(
            self.protocol_type or "", self.generation, protocol, self.leader, since_ms, members
        )

    def take(self, stored: GroupMetadata) -> None:
        """Takes over what was written, except for the members (see `add`)."""
        self.generation, self.protocol_type = stored.generation, stored.protocol_type or None
        self.protocol, self.leader = stored.protocol, stored.leader
        self.state = GroupState.STABLE if self.members else GroupState.EMPTY
        self.state_since_ms = stored.since_ms if stored.since_ms >= 0 else None
        self.subscribed = self._subscriptions()

    # -- answers

    def await_join(self, member: ClassicMember, reply: Reply[JoinGroupResponse]) -> None:
        """The member's JoinGroup waits from now on; an earlier one that waits is never answered."""
        self.joining += member.join is None
        member.join = reply

    def answer_join(self, member: ClassicMember, response: JoinGroupResponse) -> None:
        if member.join is not None:
            reply, member.join = member.join, None
            self.joining -= 1
            reply.complete(response)

    def answer_sync(self, member: ClassicMember, response: SyncGroupResponse) -> bool:
        """Returns whether a SyncGroup was waiting for the answer."""
        if member.sync is None:
            return False
        reply, member.sync = member.sync, None
        reply.complete(response)
        return True

    def fail(self, error: Exception) -> list[ClassicMember]:
        """Ends the waiting requests with an error; returns their members."""
        failed = [each for each in self.members.values() if each.join is not None or each.sync is not None]
        for member in failed:
            waiting = (member.join, member.sync)
            self.joining -= member.join is not None
            member.join = member.sync = None
            for reply in waiting:
                if reply is not None:
                    reply.fail(error)
        return failed

    def joined(
        self, member_id: str, *, with_members: bool, skip_assignment: bool = False
    ) -> JoinGroupResponse:
        """The JoinGroup answer to a member of the current generation; `with_members` is for the leader."""
        members = []
        if with_members:
            assert self.protocol is not None
            members = [
                JoinGroupResponseMember(m.id, m.instance_id, m.metadata(self.protocol))
                for m in self.members.values()
            ]
        return JoinGroupResponse(
            generation_id=self.generation,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            leader=self.leader or "",
            skip_assignment=skip_assignment,
            member_id=member_id,
            members=members,
        )


class RebalanceFailedError(Exception):
    """A broker fails when it starts the next generation, and never starts it: the request that would have
    started it gets UNKNOWN_SERVER_ERROR, and members that wait get no answer."""


def join_error(member_id: str, error: ErrorCode) -> JoinGroupResponse:
    return JoinGroupResponse(error_code=error, member_id=member_id)
