"""A streams group: its members, its topology, its epochs, and its target assignment (`StreamsGroup.java`)."""

import enum
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.streams_groups import TaskOffset, TopologyDescription
from ...protocol.streams_group_keys import streams_burial_order
from ...protocol.streams_group_records import Pairs as Configs
from ...protocol.streams_group_records import TopologyValue
from ..group_records import Pairs
from ..known_topics import NO_TOPICS
from ..offsets import Offsets
from .configuring import Configured, reads
from .member import NO_TASKS, Assigned, StreamsMember, Task, each_task

FIRST_EPOCH: Final = 1
"""With which a group begins; its first member begins the next one."""
_IN_NO_RECORD: Final = frozenset(
    {"configured", "_configured_before", "_configured_at", "progress", "shutdown_by", "endpoint_epoch"}
)
_NOT_SAVED: Final = frozenset({"processes", "offsets", "written"}) | _IN_NO_RECORD
_NOT_VALIDATED: Final = 0
"""What a group begins with, although a topology may have this epoch."""
_NOT_DESCRIBED: Final = -1


class StreamsState(enum.StrEnum):
    """The values are those in StreamsGroupDescribe and ListGroups."""

    EMPTY = "Empty"
    NOT_READY = "NotReady"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class Progress(NamedTuple):
    """How far a member is with the state of its tasks, and how far it could be."""

    offsets: Sequence[TaskOffset]
    end_offsets: Sequence[TaskOffset]


class Processes:
    """Which processes have a task, or have to give it up."""

    def __init__(self) -> None:
        self.active: dict[Task, str] = {}
        self._standby: Counter[tuple[Task, str]] = Counter()
        self._warmup: Counter[tuple[Task, str]] = Counter()
        """How many members of a process have a copy of a task."""

    def add(self, member: StreamsMember) -> None:
        process = member.process_id
        for held in (member.assigned, member.revoking):
            self.active.update(dict.fromkeys(each_task(held.active), process))
            for counts, copies in ((self._standby, held.standby), (self._warmup, held.warmup)):
                counts.update((task, process) for task in each_task(copies))

    def remove(self, member: StreamsMember) -> None:
        """What was added for a member is no more."""
        process = member.process_id
        for held in (member.assigned, member.revoking):
            for task in each_task(held.active):
                if self.active.get(task) == process:
                    del self.active[task]
            for counts, copies in ((self._standby, held.standby), (self._warmup, held.warmup)):
                for task in each_task(copies):
                    counts[task, process] -= 1
                    if not counts[task, process]:
                        del counts[task, process]

    def stands_by(self, task: Task, process: str) -> bool:
        return (task, process) in self._standby

    def warms_up(self, task: Task, process: str) -> bool:
        return (task, process) in self._warmup

    def keeps(self, task: Task, process: str) -> bool:
        """Whether a process keeps the state of a task, without processing it."""
        return self.stands_by(task, process) or self.warms_up(task, process)


class Described(NamedTuple):
    """The description of the topology of an epoch, with the number of its nodes."""

    epoch: int
    said: TopologyDescription
    nodes: int


class Wanted(NamedTuple):
    """The topology of an epoch was asked for so many times again; `until_ms` it is not asked for."""

    epoch: int
    again: int
    until_ms: int


class StreamsGroup:
    """`members` are by member id, and `target` are the assignments of `assignment_epoch`. A new one is needed
    once `epoch` is larger. `topology` is what the members run; `configured` is what follows from it and from
    the topics that there are, None until a member asks; `seen` is what others are told of it. `validated` is
    the epoch of the topology whose topics were all there, and `configs` are those with which tasks are
    assigned.

    `metadata` are the topics of the topology, as the present epoch knows them.
    `shutdown_by` is the member that has asked for all to shut down. `endpoint_epoch` goes up when
    members with an endpoint get other tasks.
    """

    type: Final[Literal["streams"]] = "streams"
    """The type in ListGroups v5 and later."""
    protocol_type: Final = "streams"
    is_consumer: Final = True
    """Whether it subscribes to topics."""
    is_stable: Final = True
    unwritten: Final = False
    leader: Final = None
    protocol: Final = "sticky"
    """The assignor."""
    state_since_ms: Final = None
    """Offsets expire by the time of their commits only."""

    def __init__(
        self, group_id: str, partition: int, assignment_epoch: int, epoch: int = FIRST_EPOCH
    ) -> None:
        self.id = group_id
        self.partition = partition
        """Its partition of `__consumer_offsets`."""
        self.epoch = epoch
        self.begun = assignment_epoch
        """The assignment epoch with which it began; there is no record of that."""
        self.assignment_epoch = assignment_epoch
        self.assigned_ms: int | None = None
        self.members: dict[str, StreamsMember] = {}
        self.static: dict[str, str] = {}
        """Member ids by instance id."""
        self.reachable: dict[str, None] = {}
        """The ids of members that have an endpoint."""
        self.processes = Processes()
        self.progress: dict[str, Progress] = {}
        """What members have said of the state of their tasks; no record has that."""
        self.target: dict[str, Assigned] = {}
        self.topology: TopologyValue | None = None
        self.configured: Configured | None = None
        self._configured_before: Configured | None = None
        self._configured_at = -1
        """Where the log of its partition ended."""
        self.validated = _NOT_VALIDATED
        self.configs: Configs = ()
        self.metadata = NO_TOPICS
        self.described = _NOT_DESCRIBED
        """The epoch of the topology of which a description was kept."""
        self.description: Described | None = None
        self.wanted: Wanted | None = None
        """Of the description; no record has these two."""
        self.shutdown_by: str | None = None
        self.endpoint_epoch = 0
        self.offsets = Offsets()
        self.deleted = False
        self.touched: dict[str, None] = {}
        """The members that may have changed since the last records were written."""
        self.written: dict[bytes, bytes] = {}
        """The records that were written last, by key."""

    def delete(self) -> None:
        self.deleted = True

    def graves(self, *, awaits: bool) -> Pairs:
        """Tombstones for all records of the group, in Kafka's order."""
        return [(key, None) for key in sorted(self.written, key=streams_burial_order)]

    @property
    def generation(self) -> int:
        return self.epoch

    @property
    def is_empty(self) -> bool:
        return not self.members

    @property
    def state(self) -> StreamsState:
        if self.deleted:
            return StreamsState.DEAD
        if not self.members:
            return StreamsState.EMPTY
        if self.topology is None or self.topology.epoch != self.validated:
            return StreamsState.NOT_READY
        if self.epoch > self.assignment_epoch:
            return StreamsState.ASSIGNING
        if all(each.reconciled_to(self.assignment_epoch) for each in self.members.values()):
            return StreamsState.STABLE
        return StreamsState.RECONCILING

    @property
    def subscribed(self) -> frozenset[str]:
        """The names of all topics that its members read."""
        if self.topology is None or not self.members:
            return frozenset()
        return frozenset(name for each in self.topology.subtopologies for name in reads(each))

    def is_subscribed(self, topic: str) -> bool:
        return topic in self.subscribed

    def configure(self, configured: Configured, end_offset: int, high_watermark: int) -> None:
        """`end_offset` and `high_watermark` are those of its partition of `__consumer_offsets`."""
        self._configured_before = self.seen(high_watermark)
        self.configured, self._configured_at = configured, end_offset

    def seen(self, high_watermark: int) -> Configured | None:
        """What follows from the topology, as of what is replicated: no record has it, so it is seen once
        another one is written after it (`StreamsGroup.asDescribedGroup`)."""
        return self.configured if high_watermark > self._configured_at else self._configured_before

    def subtopology_of(self, topic: str) -> str | None:
        """The subtopology that reads a topic; the last if there are several."""
        subtopologies = () if self.topology is None else self.topology.subtopologies
        return next((each.id for each in reversed(subtopologies) if topic in reads(each)), None)

    def read_by(self, member: StreamsMember) -> Iterator[tuple[str, int]]:
        """The partitions that the member's active tasks read; some may not be there (any more)."""
        for each in () if self.topology is None else self.topology.subtopologies:
            for index in member.assigned.active.get(each.id, ()):
                yield from ((name, index) for name in reads(each))

    def known(self, member_id: str, instance_id: str | None = None) -> StreamsMember:
        """The member that claims to be this one. ApiError UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if instance_id is None:
            if member_id not in self.members:
                raise ApiError(
                    ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.id}."
                )
            return self.members[member_id]
        if instance_id not in self.static:
            raise ApiError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if (owner := self.static[instance_id]) != member_id:
            raise ApiError(
                ErrorCode.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member {owner}.",
            )
        return self.members[owner]

    def put(self, member: StreamsMember) -> None:
        """Adds a member, or replaces it by its new state."""
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id
        before = self.members.get(member.id)
        if before is None or _tasks_of(before) != _tasks_of(member):
            if before is not None:
                self.processes.remove(before)
            self.processes.add(member)
        self.members[member.id] = member
        if member.endpoint is not None:
            self.reachable[member.id] = None
        else:
            self.reachable.pop(member.id, None)
        self.touched[member.id] = None

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        self.processes.remove(member)
        self.reachable.pop(member_id, None)
        if member.instance_id is not None and self.static.get(member.instance_id) == member_id:
            del self.static[member.instance_id]
        self.target.pop(member_id, None)
        self.progress.pop(member_id, None)
        self.touched[member_id] = None
        if not self.members:
            self.shutdown_by = None

    def aim(self, target: dict[str, Assigned], now_ms: int) -> None:
        """There is a target assignment for the present epoch."""
        self.touched.update(dict.fromkeys(target))
        self.target = target
        self.assignment_epoch, self.assigned_ms = self.epoch, now_ms

    def target_of(self, member_id: str) -> Assigned:
        return self.target.get(member_id, NO_TASKS)

    def saved(self) -> dict[str, Any]:
        """What a heartbeat may change of what records say; anything else stays changed if it fails."""
        return {
            name: dict(value) if isinstance(value, dict) else value
            for name, value in vars(self).items()
            if name not in _NOT_SAVED
        }

    def undo(self, saved: dict[str, Any]) -> None:
        """It is again what it was when that was saved."""
        vars(self).update(saved)
        self.processes = Processes()
        for each in self.members.values():
            self.processes.add(each)


def _tasks_of(member: StreamsMember) -> tuple[Any, ...]:
    return member.process_id, member.assigned, member.revoking
