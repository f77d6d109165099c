"""A streams group: its members, its topology, its epochs, and its target assignment (`StreamsGroup.java`)."""

import enum
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from ...portions import MANY, Pace, Parts, at_once
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
from .member import NO_TASKS, Assigned, Held, StreamsMember, Task, Tasks

FIRST_EPOCH: Final = 1
"""With which a group begins; its first member begins the next one."""
_IN_NO_RECORD: Final = frozenset(
    {
        "configured",
        "_configured_before",
        "_configured_at",
        "progress",
        "shutdown_by",
        "endpoint_epoch",
        "required",
        "_readers",
    }
)
_NOT_SAVED: Final = frozenset({"processes", "offsets", "written", "written_topology"}) | _IN_NO_RECORD
_NONE: Final[frozenset[int]] = frozenset()
_NOBODY: Final = StreamsMember("")
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


_Counts = dict[tuple[str, str], Counter[int]]
"""By subtopology and process: how many members have a copy of each partition's task."""


class Processes:
    """Which processes have a task, or have to give it up."""

    def __init__(self) -> None:
        self._active: dict[str, dict[int, str]] = {}
        self._standby: _Counts = {}
        self._warmup: _Counts = {}

    def replacing(self, before: StreamsMember | None, after: StreamsMember | None) -> Parts[None]:
        """A member has other tasks, has come, or is gone."""
        was = _NOBODY if before is None else before
        now = _NOBODY if after is None else after
        stays = was.process_id == now.process_id
        yield from self._remove(was, now if stays else _NOBODY)
        yield from self._add(now, was if stays else _NOBODY)

    def _remove(self, was: StreamsMember, now: StreamsMember) -> Parts[None]:
        process, pace = was.process_id, Pace(MANY)
        kept = now.assigned.active, now.revoking.active
        for held, stays in ((was.assigned, now.assigned), (was.revoking, now.revoking)):
            for name, epochs in held.active.items():
                owners = self._active.get(name, {})
                for index in epochs.keys() - set().union(*(tasks.get(name, ()) for tasks in kept)):
                    if owners.get(index) == process:
                        del owners[index]
                if pace.enough(len(epochs)):
                    yield
            for counts, some, others in self._copies(held, stays):
                for name, partitions in some.items():
                    if gone := partitions - others.get(name, _NONE):
                        counts[name, process].subtract(gone)
                        if left := +counts.pop((name, process)):
                            counts[name, process] = left
                    if pace.enough(len(partitions)):
                        yield

    def _add(self, now: StreamsMember, was: StreamsMember) -> Parts[None]:
        process, pace = now.process_id, Pace(MANY)
        for held, had in ((now.assigned, was.assigned), (now.revoking, was.revoking)):
            for name, epochs in held.active.items():
                self._active.setdefault(name, {}).update(dict.fromkeys(epochs, process))
                if pace.enough(len(epochs)):
                    yield
            for counts, some, others in self._copies(held, had):
                for name, partitions in some.items():
                    if come := partitions - others.get(name, _NONE):
                        counts.setdefault((name, process), Counter()).update(come)
                    if pace.enough(len(partitions)):
                        yield

    def _copies(self, held: Held, other: Held) -> Iterator[tuple[_Counts, Tasks, Tasks]]:
        yield self._standby, held.standby, other.standby
        yield self._warmup, held.warmup, other.warmup

    def running(self, task: Task) -> str | None:
        """The process that has an active task."""
        return self._active.get(task[0], {}).get(task[1])

    def stands_by(self, task: Task, process: str) -> bool:
        return task[1] in self._standby.get((task[0], process), ())

    def warms_up(self, task: Task, process: str) -> bool:
        return task[1] in self._warmup.get((task[0], process), ())

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
        self,
        group_id: str,
        partition: int,
        assignment_epoch: int,
        replicated: Callable[[], int],
        *,
        in_preview: bool = False,
    ) -> None:
        """`replicated` says up to which offset its partition of `__consumer_offsets` is replicated.
        `in_preview` is whether the group is as in 4.1: it is ready if what its topology comes to is `seen` to
        be, and no record says so."""
        self.id = group_id
        self.partition = partition
        """Its partition of `__consumer_offsets`."""
        self._replicated, self.in_preview = replicated, in_preview
        self.epoch = assignment_epoch if in_preview else FIRST_EPOCH
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
        self.without_hash = False
        """Whether its record has no hash of these topics, though they are known."""
        self.described = _NOT_DESCRIBED
        """The epoch of the topology of which a description was kept."""
        self.description: Described | None = None
        self.wanted: Wanted | None = None
        """Of the description; no record has these two."""
        self.shutdown_by: str | None = None
        self.endpoint_epoch = self.first_endpoint_epoch
        self.offsets = Offsets()
        self.deleted = False
        self.touched: dict[str, None] = {}
        """The members that may have changed since the last records were written."""
        self.written: dict[bytes, bytes] = {}
        """The records that were written last, by key."""
        self.written_topology: TopologyValue | None = None
        self.required: tuple[TopologyValue, list[str]] | None = None
        """The topics that a topology requires, as `configuring.required` found them."""
        self._readers: tuple[TopologyValue, dict[str, str]] | None = None

    @property
    def first_endpoint_epoch(self) -> int:
        """With which a group that is not written yet begins."""
        return -1 if self.in_preview else 0

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
        if not self._is_ready:
            return StreamsState.NOT_READY
        if self.epoch > self.assignment_epoch:
            return StreamsState.ASSIGNING
        if all(each.reconciled_to(self.assignment_epoch) for each in self.members.values()):
            return StreamsState.STABLE
        return StreamsState.RECONCILING

    @property
    def _is_ready(self) -> bool:
        if not self.in_preview:
            return self.topology is not None and self.topology.epoch == self.validated
        seen = self.seen
        return seen is not None and seen.is_ready

    @property
    def readers(self) -> Mapping[str, str]:
        """The subtopologies that read topics; the last of those that read the same one."""
        if self.topology is None:
            return {}
        if self._readers is None or self._readers[0] is not self.topology:
            found = {name: each.id for each in self.topology.subtopologies for name in reads(each)}
            self._readers = self.topology, found
        return self._readers[1]

    @property
    def subscribed(self) -> frozenset[str]:
        """The names of all topics that its members read."""
        return frozenset(self.readers if self.members else ())

    def is_subscribed(self, topic: str) -> bool:
        return bool(self.members) and topic in self.readers

    def configure(self, configured: Configured, end_offset: int) -> None:
        """`end_offset` is that of its partition of `__consumer_offsets`."""
        self._configured_before = self.seen
        self.configured, self._configured_at = configured, end_offset

    @property
    def seen(self) -> Configured | None:
        """What follows from the topology, as of what is replicated: no record has it, so it is seen once
        another one is written after it (`StreamsGroup.asDescribedGroup`)."""
        return self.configured if self._replicated() > self._configured_at else self._configured_before

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
        """As `putting`."""
        at_once(self.putting(member))

    def putting(self, member: StreamsMember) -> Parts[None]:
        """Adds a member, or replaces it by its new state."""
        if member.instance_id is not None:
            self.static[member.instance_id] = member.id
        before = self.members.get(member.id)
        if before is None or _tasks_of(before) != _tasks_of(member):
            yield from self.processes.replacing(before, member)
        self.members[member.id] = member
        if member.endpoint is not None:
            self.reachable[member.id] = None
        else:
            self.reachable.pop(member.id, None)
        self.touched[member.id] = None

    def remove(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        at_once(self.processes.replacing(member, None))
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
            at_once(self.processes.replacing(None, each))


def _tasks_of(member: StreamsMember) -> tuple[Any, ...]:
    return member.process_id, member.assigned, member.revoking
