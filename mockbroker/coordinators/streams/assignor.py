"""The assignor of streams groups: `sticky` (`StickyTaskAssignor.java`).

Tasks go to the members that had them, as long as these have no more than their share; then to those that kept
a copy of their state; the rest to the processes with the fewest tasks for their number of members. Standby
tasks follow in the same way, each on another process than the active one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from .hash_order import in_hash_order, in_order_of_computing
from .member import Assigned, Task, Tasks, each_task
from .priority_queue import PriorityQueue


class Subtasks(NamedTuple):
    """A subtopology: how many tasks it has, and whether they have state."""

    id: str
    tasks: int
    stateful: bool


class Candidate(NamedTuple):
    """A member, what it was to have so far, and how far it says that it is with the state of tasks, in
    records."""

    id: str
    process: str
    had: Assigned
    offsets: Mapping[Task, int]


def sticky(
    members: Sequence[Candidate], subtopologies: Sequence[Subtasks], standbys: int, *, first_only: bool
) -> dict[str, Assigned]:
    """`first_only` is whether only the first member is looked at of those that had a standby task. ApiError
    UNKNOWN_SERVER_ERROR."""
    assignment = _Assignment(members, subtopologies, standbys, first_only=first_only)
    active = [(each.id, index) for each in subtopologies for index in range(each.tasks)]
    assignment.assign_active(active)
    if standbys:
        stateful = {each.id for each in subtopologies if each.stateful}
        assignment.assign_standby([task for task in active if task[0] in stateful])
    return {each.id: assignment.of(each) for each in members}


class _Quota:
    """How many tasks a member may have for all to have about as many."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members

    @property
    def each(self) -> int:
        return math.ceil(self._tasks / self._members) if self._members else 0

    def count(self, has: int) -> None:
        """A member has so many now; one that is full no longer counts."""
        if has == self.each:
            self._tasks, self._members = self._tasks - has, self._members - 1


@dataclass
class _Load:
    member: str
    tasks: int


class _Process:
    """The members of one process, and their tasks."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.active: dict[str, set[Task]] = {}
        self.standby: dict[str, set[Task]] = {}
        self._tasks: set[Task] = set()
        self._given = 0
        self._queue: PriorityQueue[_Load] | None = None

    @property
    def load(self) -> float:
        return self._given / len(self.counts)

    def has(self, task: Task) -> bool:
        return task in self._tasks

    def give(self, member: str, task: Task, *, active: bool) -> int:
        """How many tasks the member has then."""
        self._queue = None
        return self._give(member, task, active=active)

    def _give(self, member: str, task: Task, *, active: bool) -> int:
        (self.active if active else self.standby).setdefault(member, set()).add(task)
        self._tasks.add(task)
        self._given += 1
        self.counts[member] += 1
        return self.counts[member]

    def give_any(self, task: Task, *, active: bool) -> int:
        """To the member that has the fewest tasks."""
        if len(self.counts) == 1:
            return self._give(next(iter(self.counts)), task, active=active)
        if self._queue is None:
            self._queue = PriorityQueue(lambda load: load.tasks)
            for member in in_hash_order(self.counts):
                self._queue.add(_Load(member, self.counts[member]))
        least = self._queue.poll()
        least.tasks = self._give(least.member, task, active=active)
        self._queue.add(least)
        return least.tasks


class _Assignment:
    def __init__(
        self,
        members: Sequence[Candidate],
        subtopologies: Sequence[Subtasks],
        standbys: int,
        *,
        first_only: bool,
    ) -> None:
        self._standbys, self._first_only, self._capacity = standbys, first_only, len(members)
        active = sum(each.tasks for each in subtopologies)
        copies = sum(each.tasks * standbys for each in subtopologies if each.stateful)
        self._active_quota = _Quota(active, len(members))
        self._quota = _Quota(active + copies, len(members))
        self._processes: dict[str, _Process] = {}
        self._had_active: dict[Task, Candidate] = {}
        self._had_standby: dict[Task, list[Candidate]] = {}
        """Also members that keep the state of a task without being assigned it, after the others."""
        by_id = {each.id: each for each in members}
        for each in (by_id[member_id] for member_id in in_hash_order(by_id)):
            self._processes.setdefault(each.process, _Process()).counts[each.id] = 0
            self._had_active.update(dict.fromkeys(each_task(each.had.active), each))
            for task in {**dict.fromkeys(each_task(each.had.standby)), **each.offsets}:
                self._had_standby.setdefault(task, []).append(each)
        for task, candidates in self._had_standby.items():
            candidates.sort(key=lambda each: (not _was_standby(each, task), -each.offsets.get(task, 0)))

    def of(self, member: Candidate) -> Assigned:
        process = self._processes[member.process]
        return Assigned(
            by_subtopology(process.active.get(member.id, ())),
            by_subtopology(process.standby.get(member.id, ())),
            {},
        )

    # -- active tasks

    def assign_active(self, tasks: Sequence[Task]) -> None:
        """ApiError UNKNOWN_SERVER_ERROR if there is no member."""
        left = []
        for task in sorted(tasks, key=_by_partition):
            had = self._had_active.get(task)
            if had is None or not self._give_active(had, task):
                left.append(task)
        rest = []
        for task in left:
            had = self._least_loaded(self._had_standby.get(task, ()))
            if had is None or not self._give_active(had, task):
                rest.append(task)
        queue = self._by_load()
        for task in sorted(rest):
            if not queue:
                raise ApiError(
                    ErrorCode.UNKNOWN_SERVER_ERROR, f"No process available to assign active task {task}."
                )
            process = queue.poll()
            has = process.give_any(task, active=True)
            self._active_quota.count(has)
            self._quota.count(has)
            queue.add(process)

    def _give_active(self, member: Candidate, task: Task) -> bool:
        process = self._processes[member.process]
        if process.counts[member.id] >= self._active_quota.each:
            return False
        has = process.give(member.id, task, active=True)
        self._active_quota.count(has)
        self._quota.count(has)
        return True

    # -- standby tasks

    def assign_standby(self, tasks: Sequence[Task]) -> None:
        """As many as there are processes for."""
        left: list[tuple[Task, int]] = []
        for task in sorted(tasks, key=_by_partition, reverse=True):
            for number in range(self._standbys):
                had = self._had_active.get(task)
                if had is not None and self._give_standby(had, task):
                    continue
                had = self._least_loaded(self._had_standby.get(task, ()), task)
                if had is not None and self._give_standby(had, task):
                    continue
                left.append((task, self._standbys - number))
                break
        queue = self._by_load()
        for task, count in sorted(left, key=lambda each: each[0], reverse=True):
            for _ in range(count):
                if not self._give_copy(queue, task):
                    break

    def _give_standby(self, member: Candidate, task: Task) -> bool:
        process = self._processes[member.process]
        if process.has(task) or process.counts[member.id] >= self._quota.each:
            return False
        self._quota.count(process.give(member.id, task, active=False))
        return True

    def _give_copy(self, queue: "PriorityQueue[_Process]", task: Task) -> bool:
        """To the process with the least load that does not have the task."""
        passed: list[_Process] = []
        given = False
        while queue and not given:
            process = queue.poll()
            passed.append(process)
            if not process.has(task):
                self._quota.count(process.give_any(task, active=False))
                given = True
        for process in reversed(passed):
            queue.add(process)
        return given

    # -- members and processes

    def _least_loaded(self, members: Sequence[Candidate], task: Task | None = None) -> Candidate | None:
        """Of members that had a task, the one whose process has the least load, if it does not have that."""
        if self._first_only:
            return self._least_loaded_than_first(members, task)
        best, least, fewest = None, math.inf, math.inf
        for each in members:
            process = self._processes[each.process]
            load, count = process.load, process.counts[each.id]
            if task is not None and process.has(task):
                continue
            if best is None or (load < least and count < fewest):
                best, least, fewest = each, load, count
        return best

    def _least_loaded_than_first(self, members: Sequence[Candidate], task: Task | None) -> Candidate | None:
        if not members:
            return None
        best = members[0]
        first = self._processes[best.process]
        load, count = first.load, first.counts[best.id]
        for each in members[1:]:
            process = self._processes[each.process]
            free = task is None or not process.has(task)
            if free and process.load < load and process.counts[each.id] < count:
                load, count, best = process.load, process.counts[each.id], each
        return None if task is not None and first.has(task) else best

    def _by_load(self) -> "PriorityQueue[_Process]":
        queue: PriorityQueue[_Process] = PriorityQueue(lambda process: process.load)
        ordered = in_hash_order if self._first_only else in_order_of_computing
        for name in ordered(self._processes, self._capacity):
            queue.add(self._processes[name])
        return queue


def _was_standby(member: Candidate, task: Task) -> bool:
    return task[1] in member.had.standby.get(task[0], ())


def _by_partition(task: Task) -> tuple[int, str]:
    return task[1], task[0]


def by_subtopology(tasks: Iterable[Task]) -> Tasks:
    found: dict[str, set[int]] = {}
    for name, partition in sorted(tasks):
        found.setdefault(name, set()).add(partition)
    return {name: frozenset(partitions) for name, partitions in found.items()}
