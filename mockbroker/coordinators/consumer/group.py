"""A consumer group: its members, its epoch, and its target assignment (`ConsumerGroup.java`)."""

import enum
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeVar
from uuid import UUID

from ...protocol.api_error import ApiError
from ...protocol.consumer_group_keys import burial_order
from ...protocol.errors import ErrorCode
from ..group_records import Pairs
from ..known_topics import NO_TOPICS
from ..named_topics import NamedTopics, together
from ..offsets import Offsets
from .member import NOTHING, Assignment, ConsumerMember, Owned

T = TypeVar("T")


class ConsumerState(enum.StrEnum):
    """The values are those in ConsumerGroupDescribe and ListGroups."""

    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class ConsumerGroup:
    """`members` are by member id, `static` are member ids by instance id, and `target` are the assignments of
    `assignment_epoch` by member id. A new one is needed once `epoch` is larger.

    `assigned_ms` is when the target assignment was made. `metadata` are the topics that the group subscribes
    to, as the present epoch knows them.
    """

    type: Final[Literal["consumer"]] = "consumer"
    """The type in ListGroups v5 and later."""
    protocol_type: Final = "consumer"
    is_consumer: Final = True
    is_stable: Final = True
    """Whether the subscriptions of all members are known."""
    unwritten: Final = False
    leader: Final = None

    def __init__(self, group_id: str, partition: int, now_ms: int, epoch: int) -> None:
        self.id = group_id
        self.partition = partition
        """Its partition of `__consumer_offsets`."""
        self.epoch = epoch
        self.assignment_epoch = 0
        self.assigned_ms: int | None = None
        self.assignor: str | None = None
        self.members: dict[str, ConsumerMember] = {}
        self.static: dict[str, str] = {}
        self.target: dict[str, Assignment] = {}
        self.metadata = NO_TOPICS
        self._resolved: Mapping[str, frozenset[str]] = {}
        self._subscribed: frozenset[str] | None = None
        self.resolved_ms = 0
        self.is_looked_up = False
        """Whether that is being looked up."""
        self.offsets = Offsets()
        self.state_since_ms: int | None = now_ms
        self.deleted = False
        self.patterns: set[str] = set()
        """The regular expressions that were ever looked up."""
        self.touched: dict[str, None] = {}
        """The members that may have changed since the last records were written."""
        self.written: dict[bytes, bytes] = {}
        """The records that were written last, by key."""
        self.stored: tuple[int, ...] = ()
        """What of the group itself was written last."""
        self._named: Counter[NamedTopics] = Counter()
        self._matched: Counter[str] = Counter()
        self._assignors: Counter[str] = Counter()
        """How many members ask for the same topics, for a regular expression and for an assignor."""
        self.classics = 0
        """How many members use the classic protocol."""
        self._protocols: Counter[str] = Counter()
        """How many of those support a protocol."""
        self._epochs: dict[tuple[UUID, int], int] = {}
        """Of the members that have partitions, or have to give them up."""

    def delete(self) -> None:
        self.deleted = True

    def graves(self, *, awaits: bool) -> Pairs:
        """Tombstones for all records of the group, in Kafka's order."""
        return [(key, None) for key in sorted(self.written, key=burial_order)]

    @property
    def epochs(self) -> tuple[int, ...]:
        """What changes whenever the group itself does."""
        return self.epoch, self.assignment_epoch, self.resolved_ms

    @property
    def differs(self) -> bool:
        """Whether there may be more than what was written."""
        return bool(self.touched) or self.stored != self.epochs

    @property
    def generation(self) -> int:
        return self.epoch

    @property
    def protocol(self) -> str | None:
        """The assignor."""
        return self.assignor

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def state(self) -> ConsumerState:
        if self.deleted:
            return ConsumerState.DEAD
        if not self.members:
            return ConsumerState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerState.ASSIGNING
        if all(each.reconciled_to(self.assignment_epoch) for each in self.members.values()):
            return ConsumerState.STABLE
        return ConsumerState.RECONCILING

    @property
    def resolved(self) -> Mapping[str, frozenset[str]]:
        """The topics that match each regular expression."""
        return self._resolved

    @resolved.setter
    def resolved(self, topics: Mapping[str, frozenset[str]]) -> None:
        self._resolved, self._subscribed = topics, None

    @property
    def subscribed(self) -> frozenset[str]:
        """The names of all topics that members subscribe to."""
        if self._subscribed is None:
            matched = (self._resolved.get(pattern, frozenset()) for pattern in self._matched)
            self._subscribed = together((*self._named, *matched))
        return self._subscribed

    @property
    def subscribed_patterns(self) -> frozenset[str]:
        """The regular expressions that members subscribe to."""
        return frozenset(self._matched)

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.subscribed

    def topics_of(self, member: ConsumerMember) -> frozenset[str]:
        """What it subscribes to by name and by regular expression, as far as that was looked up."""
        if not member.regex:
            return member.topics
        return member.topics | self.resolved.get(member.regex, frozenset())

    def preferred_assignor(self, default: str, first: str | None = None) -> str:
        """The one that most members ask for; `first` is preferred among those that have as many."""
        asked = self._assignors
        if not asked:
            return default
        return max(asked, key=lambda name: (asked[name], name == first, name))

    def supports(self, protocols: Iterable[str]) -> bool:
        """Whether all members of the classic protocol support one of these."""
        return any(self._protocols[each] == self.classics for each in protocols)

    def waits(self, member: ConsumerMember) -> bool:
        """Whether others still have to give up something that the member is to get."""
        return any(
            index not in member.assigned.get(topic, {}) and self.epoch_of(topic, index) != -1
            for topic, partitions in self.target_of(member.id).items()
            for index in partitions
        )

    def epoch_of(self, topic: UUID, partition: int) -> int:
        """The epoch of the member that has a partition, or has to give it up; -1 if nobody has it."""
        return self._epochs.get((topic, partition), -1)

    def known(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """The member that claims to be this one. ApiError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if instance_id is None:
            if member_id not in self.members:
                raise ApiError(
                    ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.id}."
                )
            return self.members[member_id]
        if instance_id not in self.static:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        owner = self.static[instance_id]
        if owner != member_id:
            raise ApiError(
                ErrorCode.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member {owner}.",
            )
        return self.members[owner]

    def put(self, member: ConsumerMember) -> None:
        """Adds a member, or replaces it by its new state."""
        before = self.members.get(member.id)
        if before == member:
            return
        self.touched[member.id] = None
        asks = before is None or not member.asks_as(before)
        self._let_go(before, counted=asks)
        self.members[member.id] = member
        if asks:
            self._count(member, 1)
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id
        for owned in (member.assigned, member.revoking):
            for key in _keys(owned):
                self._epochs[key] = member.epoch

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        self.touched[member_id] = None
        self._let_go(member)
        self.target.pop(member_id, None)
        if member.instance_id is not None and self.static.get(member.instance_id) == member_id:
            del self.static[member.instance_id]

    def aim(self, target: dict[str, Assignment], assignor: str, now_ms: int) -> None:
        """There is a target assignment for the present epoch."""
        for member_id, assignment in target.items():
            if assignment != self.target_of(member_id):
                self.touched[member_id] = None
        self.target, self.assignor = target, assignor
        self.assignment_epoch, self.assigned_ms = self.epoch, now_ms

    def target_of(self, member_id: str) -> Assignment:
        return self.target.get(member_id, NOTHING)

    def _count(self, member: ConsumerMember, by: int) -> None:
        """Adds what a member asks for, or takes it away."""
        _add(self._assignors, member.assignor, by)
        if _add(self._named, member.topics, by) | _add(self._matched, member.regex, by):
            self._subscribed = None
        if member.classic is not None:
            self.classics += by
            for name, _ in member.classic.protocols:
                self._protocols[name] += by

    def _let_go(self, member: ConsumerMember | None, *, counted: bool = True) -> None:
        if member is not None:
            if counted:
                self._count(member, -1)
            for owned in (member.assigned, member.revoking):
                for key in _keys(owned):
                    self._epochs.pop(key, None)


def _add(counter: Counter[T], asked: T | None, by: int) -> bool:
    """Returns whether nobody asked for it before, or nobody does now."""
    if not asked:
        return False
    before = counter[asked]
    counter[asked] = before + by
    if not counter[asked]:
        del counter[asked]
    return not before or asked not in counter


def _keys(owned: Owned) -> Iterable[tuple[UUID, int]]:
    return ((topic, index) for topic, partitions in owned.items() for index in partitions)
