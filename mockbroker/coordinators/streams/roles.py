"""Which tasks a member can't have yet because somebody has them, and what becomes of those that change their
role on a member (`CurrentAssignmentBuilder.java`)."""

from collections.abc import Callable, Set
from typing import NamedTuple, Protocol

from .group import Processes
from .member import Assigned, Held, StreamsMember, Task, Tasks, each_task


class Step(NamedTuple):
    """What stays with a member, what it has to give up, and what it is given once it has."""

    stays: Held
    goes: Held
    comes: Held


class Taken(Protocol):
    """Whether a task can't be given to a member in that role yet."""

    def active(self, task: Task, /) -> bool: ...

    def standby(self, task: Task, /) -> bool: ...

    def warmup(self, task: Task, /) -> bool: ...


class TakenUntilGivenUp:
    """Up to 4.3: whoever has it, in whatever role; also the member itself."""

    def __init__(self, member: StreamsMember, processes: Processes) -> None:
        self._process, self._processes = member.process_id, processes

    def active(self, task: Task) -> bool:
        return task in self._processes.active or self._processes.keeps(task, self._process)

    def standby(self, task: Task) -> bool:
        processes, process = self._processes, self._process
        return processes.active.get(task) == process or processes.keeps(task, process)

    warmup = standby


class TakenByOthers:
    """Since 4.4: what the member has in another role is not taken."""

    def __init__(self, member: StreamsMember, processes: Processes) -> None:
        self._process, self._processes = member.process_id, processes
        held = member.assigned
        self._active, self._standby, self._warmup = map(_flat, held.tasks)

    def active(self, task: Task) -> bool:
        return task in self._processes.active or self._stands_by(task) or self._warms_up(task)

    def standby(self, task: Task) -> bool:
        runs = self._processes.active.get(task) == self._process and task not in self._active
        return runs or self._processes.stands_by(task, self._process) or self._warms_up(task)

    def warmup(self, task: Task) -> bool:
        runs = self._processes.active.get(task) == self._process
        return runs or self._stands_by(task) or self._processes.warms_up(task, self._process)

    def _stands_by(self, task: Task) -> bool:
        return self._processes.stands_by(task, self._process) and task not in self._standby

    def _warms_up(self, task: Task) -> bool:
        return self._processes.warms_up(task, self._process) and task not in self._warmup


def taken(member: StreamsMember, processes: Processes, *, in_place: bool) -> Taken:
    return (TakenByOthers if in_place else TakenUntilGivenUp)(member, processes)


def in_place(step: Step, had: Held, target: Assigned, keeps: Callable[[Held], bool]) -> Step:
    """With the copies that become active tasks, or the reverse, staying where they are. `keeps` says whether
    the member still has what it has to give up."""
    active, standby, warmup = map(_flat, had.tasks)
    wanted = _flat(target.active)
    stays_standby, stays_warmup = _flat(step.stays.standby), _flat(step.stays.warmup)
    goes_standby, goes_warmup = _flat(step.goes.standby), _flat(step.goes.warmup)
    comes_standby, comes_warmup = _flat(step.comes.standby), _flat(step.comes.warmup)

    to_standby = (active | warmup) & comes_standby
    to_warmup = standby & comes_warmup
    goes_standby -= to_warmup | wanted
    goes_warmup -= to_standby | wanted
    goes = Held(step.goes.active, _grouped(goes_standby), _grouped(goes_warmup))
    given = set() if keeps(goes) else _flat(step.comes.tasks.active)
    stays_standby |= to_standby | (standby & wanted) - given
    stays_warmup |= to_warmup | (warmup & wanted) - given
    return Step(
        Held(step.stays.active, _grouped(stays_standby), _grouped(stays_warmup)),
        goes,
        Held(step.comes.active, _grouped(comes_standby - to_standby), _grouped(comes_warmup - to_warmup)),
    )


def _flat(tasks: Tasks) -> set[Task]:
    return set(each_task(tasks))


def _grouped(tasks: Set[Task]) -> Tasks:
    found: dict[str, set[int]] = {}
    for name, partition in sorted(tasks):
        found.setdefault(name, set()).add(partition)
    return {name: frozenset(partitions) for name, partitions in found.items()}
