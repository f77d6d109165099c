"""A share group: its members, its epoch, its target assignment, and which partitions it has
(`ShareGroup.java`)."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal, NamedTuple
from uuid import UUID

from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.share_group_records import share_burial_order
from ..group_records import Pairs
from ..known_topics import NO_TOPICS
from ..named_topics import NO_NAMES, NamedTopics, together
from ..offsets import Offsets

Assignment = Mapping[UUID, frozenset[int]]
"""Partitions by topic id; no topic without partitions."""
NOTHING: Final[Assignment] = {}
JOINING: Final = 0
"""The epoch with which a member joins, or joins again."""
LEAVING: Final = -1


class ShareGroupState(enum.StrEnum):
    """The values are those in ShareGroupDescribe and ListGroups."""

    EMPTY = "Empty"
    STABLE = "Stable"
    DEAD = "Dead"


@dataclass(frozen=True, slots=True)
class ShareMember:
    """`topics` is its subscription; `assigned` is what it may read. `previous_epoch` is accepted too, since
    the answer with its epoch may have been lost."""

    may_be_silent: ClassVar = False
    instance_id: ClassVar[str | None] = None
    rebalance_timeout_ms: ClassVar = -1

    id: str
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topics: NamedTopics = NO_NAMES
    epoch: int = JOINING
    previous_epoch: int = JOINING
    assigned: Assignment = field(default_factory=dict)


class Initializing(NamedTuple):
    """Partitions for which the share coordinator was asked to make a state, and when."""

    partitions: frozenset[int]
    since_ms: int


class ShareGroup:
    """`members` are by member id, and `target` are the assignments of `assignment_epoch`. A new one is needed
    once `epoch` is larger. `metadata` are the topics that the group subscribes to, as the present epoch knows
    them.

    The group has those partitions that are `initialized`: their states are there. Others are
    `initializing`, and the states of all partitions of the topics in `deleting` are to go.
    """

    type: Final[Literal["share"]] = "share"
    """The type in ListGroups v5 and later."""
    protocol_type: Final = "share"
    is_consumer: Final = False
    is_stable: Final = True
    unwritten: Final = False
    leader: Final = None
    protocol: Final = "simple"
    """The assignor."""

    def __init__(self, group_id: str, partition: int, now_ms: int, epoch: int) -> None:
        self.id = group_id
        self.partition = partition
        """Its partition of `__consumer_offsets`."""
        self.epoch = epoch
        self.assignment_epoch = epoch
        self.assigned_ms: int | None = None
        self.members: dict[str, ShareMember] = {}
        self.target: dict[str, Assignment] = {}
        self.metadata = NO_TOPICS
        self.initializing: dict[UUID, Initializing] = {}
        self.initialized: dict[UUID, frozenset[int]] = {}
        self.deleting: set[UUID] = set()
        self.names: dict[UUID, str] = {}
        """Of the topics in `initializing`, `initialized` and `deleting`."""
        self.offsets = Offsets()
        """None: a share group commits nothing."""
        self.state_since_ms: int | None = now_ms
        self.deleted = False
        self.touched: dict[str, None] = {}
        """The members that may have changed since the last records were written."""
        self.written: dict[bytes, bytes] = {}
        """The records that were written last, by key."""

    def delete(self) -> None:
        self.deleted = True

    def graves(self, *, awaits: bool) -> Pairs:
        """Tombstones for all records of the group, in Kafka's order."""
        return [(key, None) for key in sorted(self.written, key=share_burial_order)]

    @property
    def generation(self) -> int:
        return self.epoch

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def state(self) -> ShareGroupState:
        if self.deleted:
            return ShareGroupState.DEAD
        return ShareGroupState.STABLE if self.members else ShareGroupState.EMPTY

    @property
    def subscribed(self) -> frozenset[str]:
        """The names of all topics that members subscribe to."""
        return together({each.topics for each in self.members.values()})

    def is_subscribed(self, topic: str) -> bool:
        return any(topic in each.topics for each in self.members.values())

    def known(self, member_id: str) -> ShareMember:
        """ApiError UNKNOWN_MEMBER_ID."""
        if member_id not in self.members:
            raise ApiError(
                ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.id}."
            )
        return self.members[member_id]

    def put(self, member: ShareMember) -> None:
        """Adds a member, or replaces it by its new state."""
        self.members[member.id] = member
        self.touched[member.id] = None

    def remove(self, member_id: str) -> None:
        del self.members[member_id]
        self.target.pop(member_id, None)
        self.touched[member_id] = None

    def target_of(self, member_id: str) -> Assignment:
        return self.target.get(member_id, NOTHING)

    def aim(self, target: dict[str, Assignment], now_ms: int) -> None:
        """There is a target assignment for the present epoch."""
        self.touched.update(dict.fromkeys(target))
        self.target = target
        self.assignment_epoch, self.assigned_ms = self.epoch, now_ms
