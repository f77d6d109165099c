"""Which tasks a member can't have yet because somebody has them, and what becomes of those that change their
role on a member (`CurrentAssignmentBuilder.java`)."""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from ...portions import Pace, Parts
from .group import Processes
from .member import Assigned, Held, Owned, StreamsMember, Task, Tasks


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
        return self._processes.running(task) is not None or self._processes.keeps(task, self._process)

    def standby(self, task: Task) -> bool:
        processes, process = self._processes, self._process
        return processes.running(task) == process or processes.keeps(task, process)

    warmup = standby


class TakenByOthers:
    """Since 4.4: what the member has in another role is not taken."""

    def __init__(self, member: StreamsMember, processes: Processes) -> None:
        self._process, self._processes, self._held = member.process_id, processes, member.assigned

    def active(self, task: Task) -> bool:
        if self._processes.running(task) is not None:
            return True
        return self._stands_by(task) or self._warms_up(task)

    def standby(self, task: Task) -> bool:
        runs = self._processes.running(task) == self._process and not _is_in(self._held.active, task)
        return runs or self._processes.stands_by(task, self._process) or self._warms_up(task)

    def warmup(self, task: Task) -> bool:
        runs = self._processes.running(task) == self._process
        return runs or self._stands_by(task) or self._processes.warms_up(task, self._process)

    def _stands_by(self, task: Task) -> bool:
        return self._processes.stands_by(task, self._process) and not _is_in(self._held.standby, task)

    def _warms_up(self, task: Task) -> bool:
        return self._processes.warms_up(task, self._process) and not _is_in(self._held.warmup, task)


def taken(member: StreamsMember, processes: Processes, *, in_place: bool) -> Taken:
    return (TakenByOthers if in_place else TakenUntilGivenUp)(member, processes)


def in_place(step: Step, had: Held, target: Assigned, keeps: Callable[[Held], bool]) -> Parts[Step]:
    """With the copies that become active tasks, or the reverse, staying where they are. `keeps` says whether
    the member still has what it has to give up."""
    active, standby, warmup = had.tasks
    names = sorted({*standby, *warmup, *step.comes.standby, *step.comes.warmup})
    becomes: dict[str, tuple[frozenset[int], frozenset[int]]] = {}
    """Which tasks become standby and warm-up tasks."""
    goes, stays, comes = _Copies({}, {}), _Copies({}, {}), _Copies({}, {})
    pace = Pace()
    for name in names:
        to_standby = (_of(active, name) | _of(warmup, name)) & _of(step.comes.standby, name)
        to_warmup = _of(standby, name) & _of(step.comes.warmup, name)
        becomes[name] = to_standby, to_warmup
        wanted = _of(target.active, name)
        goes.put(
            name,
            _of(step.goes.standby, name) - to_warmup - wanted,
            _of(step.goes.warmup, name) - to_standby - wanted,
        )
        if pace.enough():
            yield
    going = Held(step.goes.active, *goes)
    given = {} if keeps(going) else step.comes.tasks.active
    for name in names:
        to_standby, to_warmup = becomes[name]
        kept = _of(target.active, name) - _of(given, name)
        stays.put(
            name,
            _of(step.stays.standby, name) | to_standby | _of(standby, name) & kept,
            _of(step.stays.warmup, name) | to_warmup | _of(warmup, name) & kept,
        )
        comes.put(name, _of(step.comes.standby, name) - to_standby, _of(step.comes.warmup, name) - to_warmup)
        if pace.enough():
            yield
    return Step(Held(step.stays.active, *stays), going, Held(step.comes.active, *comes))


class _Copies(NamedTuple):
    standby: dict[str, frozenset[int]]
    warmup: dict[str, frozenset[int]]

    def put(self, name: str, standby: frozenset[int], warmup: frozenset[int]) -> None:
        for kind, partitions in zip(self, (standby, warmup), strict=True):
            if partitions:
                kind[name] = partitions


_NONE: Final[frozenset[int]] = frozenset()


def _of(tasks: Tasks, name: str) -> frozenset[int]:
    return tasks.get(name, _NONE)


def _is_in(tasks: Owned | Tasks, task: Task) -> bool:
    return task[1] in tasks.get(task[0], ())
