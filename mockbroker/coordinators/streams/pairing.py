"""The assignor of streams groups in 4.1 (`StickyTaskAssignor.java` there).

It also gives a task first to the members that had it. Of others, those come first on whose process the task
would be together with one that it is not together with anywhere else (a new pair), then the process with the
fewest tasks for its number of members. Where several would do, brokers of 4.1 choose by chance, by the
addresses of objects; here the first in the order of their hashes is chosen.
"""

from collections.abc import Iterable, Sequence

from ...java_hash import in_hash_order
from ...portions import MANY, Pace, Parts, portions
from .assignor import Candidate, Found, Subtasks, shared_out
from .hash_order import tasks_in_hash_order
from .member import Assigned, Task, each_task

_Found = dict[str, dict[str, set[int]]]
"""Partitions by member and subtopology."""


def by_pairs(
    members: Sequence[Candidate], subtopologies: Sequence[Subtasks], standbys: int
) -> Parts[dict[str, Assigned]]:
    """There has to be a member."""
    tasks = yield from tasks_in_hash_order([(each.id, each.tasks) for each in subtopologies])
    assignment = _Assignment(members, tasks)
    yield from assignment.take(members)
    yield from assignment.assign_active(tasks)
    if standbys:
        stateful = [(each.id, each.tasks) for each in subtopologies if each.stateful]
        yield from assignment.assign_standby((yield from tasks_in_hash_order(stateful)), standbys)
    return (yield from shared_out(members, assignment.of))


class _Process:
    """The members of one process with their numbers of tasks, and which tasks it has: a bit for each."""

    def __init__(self, members: Iterable[str]) -> None:
        self.counts = dict.fromkeys(in_hash_order(members), 0)
        self.tasks = 0
        self.active = self._given = 0

    @property
    def load(self) -> float:
        return self._given / len(self.counts)

    @property
    def has_room(self) -> bool:
        return self._given < len(self.counts)

    @property
    def freest(self) -> str:
        return min(self.counts, key=self.counts.__getitem__)

    def give(self, member: str, bit: int, *, active: bool) -> None:
        self.counts[member] += 1
        self.tasks |= bit
        self._given += 1
        self.active += active


class _Quota:
    """How many active tasks a member may have because it had them."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members

    @property
    def each(self) -> int:
        if not self._members:
            return 0
        whole, rest = divmod(abs(self._tasks), self._members)
        return -whole if self._tasks < 0 else whole + (rest > 0)

    def count(self, has: int) -> None:
        """A process has so many now."""
        if has == self.each:
            self._tasks, self._members = self._tasks - has, self._members - 1


class _Pairs:
    """Which tasks are together on a process."""

    def __init__(self, tasks: int) -> None:
        self._tasks = tasks
        self._numbers: dict[Task, int] = {}
        self._with: dict[int, list[_Process]] = {}
        self._complete = 0
        """So many of the first tasks are together with every other one."""

    def _number(self, task: Task) -> int:
        return self._numbers.setdefault(task, len(self._numbers))

    def bit(self, task: Task) -> int:
        return 1 << self._number(task)

    def add(self, task: Task, process: _Process) -> None:
        self._with.setdefault(self._number(task), []).append(process)

    def has_new(self, task: Task, process: _Process) -> bool:
        """Whether the task would make a new pair there; it does where there is no task yet, unless there are
        all pairs."""
        if not process.tasks:
            return not self._all_there
        return bool(process.tasks & ~self._together(self._number(task)))

    def _together(self, number: int) -> int:
        found = 0
        for each in self._with.get(number, ()):
            found |= each.tasks
        return found

    @property
    def _all_there(self) -> bool:
        every = (1 << self._tasks) - 1
        while self._complete < self._tasks:
            number = self._complete
            if self._together(number) | 1 << number != every:
                return False
            self._complete += 1
        return True


class _Assignment:
    def __init__(self, members: Sequence[Candidate], tasks: Sequence[Task]) -> None:
        self._quota, self._pairs = _Quota(len(tasks), len(members)), _Pairs(len(tasks))
        self._found: tuple[_Found, _Found] = {}, {}
        """Active tasks, and copies."""
        self._had_active: dict[Task, Candidate] = {}
        self._had_standby: dict[Task, list[Candidate]] = {}
        of_process: dict[str, list[str]] = {}
        for each in members:
            of_process.setdefault(each.process, []).append(each.id)
        self._processes = {name: _Process(of_process[name]) for name in in_hash_order(of_process)}

    def take(self, members: Sequence[Candidate]) -> Parts[None]:
        """What they had."""
        by_id, pace = {each.id: each for each in members}, Pace(MANY)
        for each in (by_id[member_id] for member_id in in_hash_order(by_id)):
            for some in portions(each_task(each.had.active), MANY):
                self._had_active.update(dict.fromkeys(some, each))
                if pace.enough(len(some)):
                    yield
            for task in each_task(each.had.standby):
                self._had_standby.setdefault(task, []).append(each)
                if pace.enough():
                    yield

    def of(self, member: Candidate) -> tuple[Found, Found]:
        active, standby = self._found
        return active.get(member.id, {}), standby.get(member.id, {})

    def _give(self, process: str, member: str, task: Task, *, active: bool) -> None:
        to = self._processes[process]
        to.give(member, self._pairs.bit(task), active=active)
        self._pairs.add(task, to)
        found = self._found[0 if active else 1].setdefault(member, {})
        found.setdefault(task[0], set()).add(task[1])
        if active:
            self._quota.count(to.active)

    # -- active tasks: none of them is together with any other before it is assigned

    def assign_active(self, tasks: Iterable[Task]) -> Parts[None]:
        for takes in (self._stays, self._is_promoted, self._is_given):
            left, pace = list[Task](), Pace()
            for task in tasks:
                if not takes(task):
                    left.append(task)
                if pace.enough(len(self._processes)):
                    yield
            tasks = left

    def _stays(self, task: Task) -> bool:
        had = self._had_active.get(task)
        if had is None or not self._has_quota(had.process, had.id):
            return False
        self._give(had.process, had.id, task, active=True)
        return True

    def _is_promoted(self, task: Task) -> bool:
        """Whether a member gets it that had a copy."""
        if not (had := self._had_standby.get(task)):
            return False
        name, member = self._former(had, [each.process for each in had])
        if not self._has_quota(name, member):
            return False
        self._give(name, member, task, active=True)
        return True

    def _is_given(self, task: Task) -> bool:
        name = self._least_loaded(self._processes)
        self._give(name, self._processes[name].freest, task, active=True)
        return True

    def _has_quota(self, process: str, member: str) -> bool:
        return self._processes[process].counts[member] < self._quota.each

    # -- standby tasks

    def assign_standby(self, tasks: Iterable[Task], standbys: int) -> Parts[None]:
        """As many as there are processes for."""
        pace = Pace()
        for task in tasks:
            bit = self._pairs.bit(task)
            for _ in range(standbys):
                free = [name for name, each in self._processes.items() if not each.tasks & bit]
                if not free:
                    break
                name, member = self._stands_by(task, free)
                self._give(name, member, task, active=False)
            if pace.enough(standbys * len(self._processes)):
                yield

    def _stands_by(self, task: Task, free: Sequence[str]) -> tuple[str, str]:
        """The process, of those that are `free`, and its member that gets a copy."""
        had = self._had_active.get(task)
        if (
            had is not None
            and had.process in free
            and self._is_balanced(had.process)
            and self._pairs.has_new(task, self._processes[had.process])
        ):
            return had.process, had.id
        if former := [each for each in self._had_standby.get(task, ()) if each.process in free]:
            found = self._former(former, self._pairing(task, [each.process for each in former]))
            if self._is_balanced(found[0]):
                return found
        name = self._least_loaded(self._pairing(task, free))
        return name, self._processes[name].freest

    def _is_balanced(self, process: str) -> bool:
        """Whether it has fewer tasks than members, or not more than any other for its number of members."""
        this = self._processes[process]
        return this.has_room or all(each.load >= this.load for each in self._processes.values())

    # -- members and processes

    def _former(self, members: Sequence[Candidate], processes: Iterable[str]) -> tuple[str, str]:
        """Of members that had a copy, the one on the process with the least load."""
        name = self._least_loaded(processes)
        return name, next(each.id for each in members if each.process == name)

    def _pairing(self, task: Task, processes: Sequence[str]) -> Sequence[str]:
        """Where the task would make a new pair; if nowhere, all."""
        found = [each for each in processes if self._pairs.has_new(task, self._processes[each])]
        return found or processes

    def _least_loaded(self, processes: Iterable[str]) -> str:
        return min(processes, key=lambda name: self._processes[name].load)
