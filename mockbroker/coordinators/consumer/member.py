"""A member of a consumer group (`ConsumerGroupMember.java`)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, NamedTuple
from uuid import UUID

from ...protocol.consumer_protocol import version_of
from ..member_state import MemberState
from ..named_topics import NO_NAMES, NamedTopics

Assignment = Mapping[UUID, frozenset[int]]
"""Partitions by topic id; no topic without partitions."""
Owned = Mapping[UUID, Mapping[int, int]]
"""By topic id and partition: the epoch in which the member was given the partition."""

JOINING: Final = 0
"""The epoch with which a member joins, or joins again."""
LEAVING: Final = -1
LEAVING_FOR_A_WHILE: Final = -2
"""The epoch of a static member that will come back under another member id."""
NOTHING: Final[Assignment] = {}


class Classic(NamedTuple):
    """What a member that uses the classic protocol said when it joined: its session timeout, and its
    protocols with their metadata."""

    session_ms: int
    protocols: tuple[tuple[str, bytes], ...]

    @property
    def protocol(self) -> str:
        """The one that it is told to use, whichever the others have."""
        return self.protocols[0][0]

    @property
    def version(self) -> int:
        """Of its metadata, and hence of its assignments."""
        return version_of(self.protocols[0][1])


@dataclass(frozen=True, slots=True)
class ConsumerMember:
    """`topics` and `regex` are its subscription; `assigned` is what it may read, and `revoking` what it has
    to give up. `previous_epoch` is accepted too, since the answer with its epoch may have been lost."""

    may_be_silent: ClassVar = False

    id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topics: NamedTopics = NO_NAMES
    regex: str = ""
    assignor: str | None = None
    epoch: int = JOINING
    previous_epoch: int = JOINING
    state: MemberState = MemberState.STABLE
    assigned: Owned = field(default_factory=dict)
    revoking: Owned = field(default_factory=dict)
    classic: Classic | None = None
    """None for members that use the consumer protocol."""

    def asks_as(self, other: "ConsumerMember") -> bool:
        """Whether both ask for the same."""
        return (self.topics, self.regex, self.assignor, self.classic) == (
            other.topics,
            other.regex,
            other.assignor,
            other.classic,
        )

    def since(self, topic: UUID, partition: int) -> int | None:
        """The epoch in which it was given a partition that it has, or has to give up."""
        for owned in (self.assigned, self.revoking):
            if (epoch := owned.get(topic, {}).get(partition)) is not None:
                return epoch
        return None

    @property
    def held(self) -> Assignment:
        """What it may read, and what it may still read because it has yet to give it up."""
        topics = dict.fromkeys((*self.assigned, *self.revoking))
        return {
            topic: frozenset((*self.assigned.get(topic, ()), *self.revoking.get(topic, ())))
            for topic in topics
        }

    def taken_over_by(self, member_id: str) -> "ConsumerMember":
        """A static member that comes back under another id, and has to join."""
        return replace(self, id=member_id, epoch=JOINING, previous_epoch=JOINING)

    def reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch


def partitions_of(owned: Owned) -> Assignment:
    """Without the epochs."""
    return {topic: frozenset(partitions) for topic, partitions in owned.items()}
