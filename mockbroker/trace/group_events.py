"""Events that tell the state of groups: their members, and what share groups have in flight (KIP-932)."""

from dataclasses import dataclass
from typing import ClassVar, Final

from .event import Event, OfPartition

MOST_RANGES: Final = 200
"""How many ranges of records an event of a share partition has at most."""
InFlight = tuple[int, int, str, int, str | None, int | None]
"""First and last offset, state, deliveries, the member that has acquired them, and until when in ms."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Group(Event):
    """A group's state or generation changed, or it has another coordinator; `Dead` when it is gone. `type` is
    classic, consumer, share or streams."""

    group: str
    coordinator: int
    state: str
    generation: int
    members: int
    type: str = "classic"
    kind: ClassVar[str] = "group"
    line = "group {group} on broker {coordinator}: {state}, generation {generation}, {members} members"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Member(Event):
    """A member joined a group, or its epoch, its subscription or its assignment changed.

    `type` is the protocol that it uses; `epoch` is the generation in a classic group, and -1 when the member
    has left. `subscribed` are topics, `assigned` partitions such as orders-0; both are empty if they can't be
    read. `active_tasks` and `standby_tasks`, such as 0_1, are those of a member of a streams group
    (KIP-1071), and empty in other groups."""

    group: str
    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    type: str
    epoch: int
    subscribed: tuple[str, ...]
    assigned: tuple[str, ...]
    active_tasks: tuple[str, ...] = ()
    standby_tasks: tuple[str, ...] = ()
    kind: ClassVar[str] = "member"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SharePartition(OfPartition):
    """What a share group has of a partition changed.

    Everything below `start_offset` is done; it is -1 until a member has read. `coordinator` is the broker of
    its share coordinator, -1 if there is none. Both are -1 when the group no longer has the partition.
    `in_flight` are the records from there on, the first 200 ranges of them: of each its first and last
    offset, its state, how often it was delivered, and the member that has acquired it and until when in ms,
    null in other states."""

    group: str
    coordinator: int
    start_offset: int
    in_flight: tuple[InFlight, ...]
    kind: ClassVar[str] = "share-partition"

    def text(self) -> str:
        where = f"share group {self.group} of {self.topic}-{self.partition}"
        if self.start_offset < 0:
            return f"{where}: nothing was read"
        return f"{where} from {self.start_offset}" + "".join(f", {_range(*each)}" for each in self.in_flight)


def _range(first: int, last: int, state: str, deliveries: int, member: str | None, _: int | None) -> str:
    offsets = f"{first}-{last}" if last > first else f"{first}"
    whose = f" by {member}" if member else ""
    often = f" (delivered {deliveries} times)" if deliveries > 1 else ""
    return f"{offsets} {state}{whose}{often}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShareSession(Event):
    """A share session at a broker began, went on or ended: `epoch` is that of its next request, -1 when it
    has ended; `names` are its partitions."""

    broker: int
    group: str
    member_id: str
    epoch: int
    names: tuple[str, ...]
    kind: ClassVar[str] = "share-session"
