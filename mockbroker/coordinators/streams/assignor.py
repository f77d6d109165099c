"""The assignor of streams groups: `sticky` (`StickyTaskAssignor.java`).

Tasks go to the members that had them, as long as these have no more than their share; then to those that kept
a copy of their state; the rest to the processes with the fewest tasks for their number of members. Standby
tasks follow in the same way, each on another process than the active one.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Final, NamedTuple

from ...java_hash import in_hash_order
from ...portions import MANY, Pace, Parts
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from .hash_order import in_order_of_computing
from .member import Assigned, Task, each_task
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


Found = Mapping[str, set[int]]
"""Partitions by subtopology."""


def sticky(
    members: Sequence[Candidate], subtopologies: Sequence[Subtasks], standbys: int, *, first_only: bool
) -> Parts[dict[str, Assigned]]:
    """`first_only` is whether only the first member is looked at of those that had a standby task. ApiError
    UNKNOWN_SERVER_ERROR."""
    assignment = _Assignment(members, subtopologies, standbys, first_only=first_only)
    yield from assignment.take(members)
    yield from assignment.assign_active()
    if standbys:
        yield from assignment.assign_standby()
    return (yield from shared_out(members, assignment.of))


def shared_out(
    members: Sequence[Candidate], of: Callable[[Candidate], tuple[Found, Found]]
) -> Parts[dict[str, Assigned]]:
    """What members are to have; `of` gives the active tasks and the copies of one."""
    found, pace = dict[str, Assigned](), Pace(MANY)
    for each in members:
        active, standby = (
            {name: frozenset(some) for name, some in sorted(kind.items())} for kind in of(each)
        )
        found[each.id] = made = Assigned(active, standby, {})
        if pace.enough(1 + made.size):
            yield
    return found


_NOBODY: Final[Mapping[int, Candidate]] = {}


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
        self.active: dict[str, dict[str, set[int]]] = {}
        self.standby: dict[str, dict[str, set[int]]] = {}
        """By member and subtopology."""
        self._tasks: dict[str, set[int]] = {}
        self._given = 0
        self._queue: PriorityQueue[_Load] | None = None

    @property
    def load(self) -> float:
        return self._given / len(self.counts)

    def has(self, task: Task) -> bool:
        return task[1] in self._tasks.get(task[0], ())

    def give(self, member: str, task: Task, *, active: bool) -> int:
        """How many tasks the member has then."""
        self._queue = None
        return self._give(member, task, active=active)

    def _give(self, member: str, task: Task, *, active: bool) -> int:
        found = (self.active if active else self.standby).setdefault(member, {})
        found.setdefault(task[0], set()).add(task[1])
        self._tasks.setdefault(task[0], set()).add(task[1])
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
        self._subtopologies = sorted(subtopologies)
        active = sum(each.tasks for each in subtopologies)
        copies = sum(each.tasks * standbys for each in subtopologies if each.stateful)
        self._active_quota = _Quota(active, len(members))
        self._quota = _Quota(active + copies, len(members))
        self._processes: dict[str, _Process] = {}
        self._had_active: dict[str, dict[int, Candidate]] = {}
        self._had_standby: dict[Task, list[Candidate]] = {}
        """Also members that keep the state of a task without being assigned it, after the others."""

    def take(self, members: Sequence[Candidate]) -> Parts[None]:
        """What they had."""
        by_id, pace = {each.id: each for each in members}, Pace(MANY)
        for each in (by_id[member_id] for member_id in in_hash_order(by_id)):
            self._processes.setdefault(each.process, _Process()).counts[each.id] = 0
            for name, some in each.had.active.items():
                self._had_active.setdefault(name, {}).update(dict.fromkeys(some, each))
                if pace.enough(len(some)):
                    yield
            kept = (task for task in each.offsets if not _was_standby(each, task))
            for task in chain(each_task(each.had.standby), kept):
                self._had_standby.setdefault(task, []).append(each)
                if pace.enough():
                    yield
        for task, candidates in self._had_standby.items():
            candidates.sort(key=lambda each: (not _was_standby(each, task), -each.offsets.get(task, 0)))
            if pace.enough(len(candidates)):
                yield

    def of(self, member: Candidate) -> tuple[Found, Found]:
        process = self._processes[member.process]
        return process.active.get(member.id, {}), process.standby.get(member.id, {})

    # -- active tasks

    def assign_active(self) -> Parts[None]:
        """ApiError UNKNOWN_SERVER_ERROR if there is no member."""
        pace, left = Pace(), list[Task]()
        for task in by_partition(self._subtopologies):
            had = self._had(task)
            if had is None or not self._give_active(had, task):
                left.append(task)
            if pace.enough():
                yield
        rest: dict[str, list[int]] = {}
        for task in left:
            had = self._least_loaded(self._had_standby.get(task, ()))
            if had is None or not self._give_active(had, task):
                rest.setdefault(task[0], []).append(task[1])
            if pace.enough():
                yield
        queue = self._by_load()
        for task in _in_order(rest):
            if not queue:
                raise ApiError(
                    ErrorCode.UNKNOWN_SERVER_ERROR, f"No process available to assign active task {task}."
                )
            process = queue.poll()
            has = process.give_any(task, active=True)
            self._active_quota.count(has)
            self._quota.count(has)
            queue.add(process)
            if pace.enough():
                yield

    def _give_active(self, member: Candidate, task: Task) -> bool:
        process = self._processes[member.process]
        if process.counts[member.id] >= self._active_quota.each:
            return False
        has = process.give(member.id, task, active=True)
        self._active_quota.count(has)
        self._quota.count(has)
        return True

    # -- standby tasks

    def assign_standby(self) -> Parts[None]:
        """As many as there are processes for."""
        pace = Pace()
        left: dict[str, dict[int, int]] = {}
        """How many copies are to be placed, by subtopology and partition."""
        for task in by_partition([each for each in self._subtopologies if each.stateful], reverse=True):
            for number in range(self._standbys):
                had = self._had(task)
                if had is not None and self._give_standby(had, task):
                    continue
                had = self._least_loaded(self._had_standby.get(task, ()), task)
                if had is not None and self._give_standby(had, task):
                    continue
                left.setdefault(task[0], {})[task[1]] = self._standbys - number
                break
            if pace.enough(self._standbys):
                yield
        queue = self._by_load()
        for task in _in_order(left, reverse=True):
            for _ in range(left[task[0]][task[1]]):
                if not self._give_copy(queue, task):
                    break
            if pace.enough(self._standbys):
                yield

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

    def _had(self, task: Task) -> Candidate | None:
        """Who had it as an active task."""
        return self._had_active.get(task[0], _NOBODY).get(task[1])

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


def by_partition(subtopologies: Sequence[Subtasks], *, reverse: bool = False) -> Iterator[Task]:
    """All tasks of subtopologies that are sorted by id: those of the first partition, of the second, …"""
    here = list(reversed(subtopologies) if reverse else subtopologies)
    spans: list[tuple[range, list[str]]] = []
    for begin, end in pairwise([0, *sorted({each.tasks for each in here})]):
        # Up to `end` it is these that have such a partition.
        here = [each for each in here if each.tasks > begin]
        spans.append((range(begin, end), [each.id for each in here]))
    for partitions, ids in reversed(spans) if reverse else spans:
        for index in reversed(partitions) if reverse else partitions:
            for each in ids:
                yield each, index


def _in_order(tasks: Mapping[str, Iterable[int]], *, reverse: bool = False) -> Iterator[Task]:
    """By subtopology; the partitions of each are in order."""
    return ((name, index) for name in sorted(tasks, reverse=reverse) for index in tasks[name])
