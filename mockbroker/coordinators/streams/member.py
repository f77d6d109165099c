"""A member of a streams group (`StreamsGroupMember.java`)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from ..member_state import MemberState

Tasks = Mapping[str, frozenset[int]]
"""Partitions by subtopology; no subtopology without partitions."""
Owned = Mapping[str, Mapping[int, int]]
"""By subtopology and partition: the epoch in which the member was given the task."""
Task = tuple[str, int]

JOINING: Final = 0
"""The epoch with which a member joins, or joins again."""
LEAVING: Final = -1
LEAVING_FOR_A_WHILE: Final = -2


class Assigned(NamedTuple):
    """The tasks that a member is to have."""

    active: Tasks
    standby: Tasks
    warmup: Tasks

    @property
    def size(self) -> int:
        """How many tasks."""
        return sum(len(some) for kind in self for some in kind.values())


class Held(NamedTuple):
    """The tasks that a member has."""

    active: Owned
    standby: Tasks
    warmup: Tasks

    @property
    def tasks(self) -> Assigned:
        """Without the epochs."""
        active = {name: frozenset(partitions) for name, partitions in self.active.items()}
        return Assigned(active, self.standby, self.warmup)

    @property
    def size(self) -> int:
        """How many tasks."""
        return sum(len(some) for kind in self for some in kind.values())


NOTHING: Final = Held({}, {}, {})
NO_TASKS: Final = Assigned({}, {}, {})


@dataclass(frozen=True, slots=True)
class StreamsMember:
    """`assigned` are its tasks, `revoking` those that it has to give up. `process_id` names the instance, and
    `endpoint`, a host and a port, is where that can be asked for what it keeps. `previous_epoch` is accepted
    too, since the answer with its epoch may have been lost."""

    may_be_silent: ClassVar = False

    id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    endpoint: tuple[str, int] | None = None
    tags: tuple[tuple[str, str], ...] = ()
    epoch: int = JOINING
    previous_epoch: int = JOINING
    state: MemberState = MemberState.STABLE
    assigned: Held = NOTHING
    revoking: Held = NOTHING

    def reconciled_to(self, epoch: int) -> bool:
        return self.state is MemberState.STABLE and self.epoch == epoch

    def since(self, subtopology: str, partition: int) -> int | None:
        """The epoch in which it was given an active task that it has, or has to give up."""
        for held in (self.assigned, self.revoking):
            if (epoch := held.active.get(subtopology, {}).get(partition)) is not None:
                return epoch
        return None


def each_task(tasks: Mapping[str, Mapping[int, int] | frozenset[int]]) -> Iterator[Task]:
    return ((name, partition) for name, partitions in tasks.items() for partition in partitions)


def task_names(tasks: Owned | Tasks) -> tuple[str, ...]:
    """As Kafka Streams names them: subtopology and partition, such as 0_1."""
    return tuple(f"{name}_{partition}" for name, partition in sorted(each_task(tasks)))
