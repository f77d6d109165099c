"""The assignor of streams groups: every task is somebody's, nobody has many more than others, and what can
stay stays."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.coordinators.streams.assignor import Candidate, Subtasks, sticky
from mockbroker.coordinators.streams.member import NO_TASKS, Assigned, each_task
from mockbroker.coordinators.streams.pairing import by_pairs
from mockbroker.coordinators.streams.priority_queue import PriorityQueue
from mockbroker.portions import at_once
from mockbroker.protocol.api_error import ApiError
from tests.properties import examples

subtopologies = st.lists(
    st.tuples(st.integers(1, 6), st.booleans()).map(lambda each: Subtasks("", *each)), min_size=1, max_size=3
).map(lambda found: [each._replace(id=str(number)) for number, each in enumerate(found)])
processes = st.lists(st.sampled_from("PQRS"), min_size=1, max_size=6)


def members(of: list[str], had: dict[str, Assigned] | None = None) -> list[Candidate]:
    return [
        Candidate(f"m{number}", process, (had or {}).get(f"m{number}", NO_TASKS), {})
        for number, process in enumerate(of)
    ]


@given(subtopologies, processes, st.integers(0, 2), st.booleans())
@settings(max_examples=examples(200))
def test_assignments(topology: list[Subtasks], of: list[str], standbys: int, first_only: bool) -> None:
    found = at_once(sticky(members(of), topology, standbys, first_only=first_only))
    check(found, topology, of, standbys)
    sizes = [sum(map(len, each.active.values())) for each in found.values()]
    if len(set(Counter(of).values())) == 1:
        assert max(sizes) - min(sizes) <= 1
    then = at_once(sticky(members(of, found), topology, standbys, first_only=False))
    assert then.keys() == found.keys()


@given(subtopologies, processes, st.integers(0, 2), st.data())
@settings(max_examples=examples(200))
def test_assignments_by_pairs(
    topology: list[Subtasks], of: list[str], standbys: int, data: st.DataObject
) -> None:
    found = at_once(by_pairs(members(of), topology, standbys))
    check(found, topology, of, standbys)
    # Some members leave, and others come.
    then = data.draw(processes)
    check(at_once(by_pairs(members(then, found), topology, standbys)), topology, then, standbys)


def check(found: dict[str, Assigned], topology: list[Subtasks], of: list[str], standbys: int) -> None:
    """Every task is somebody's, and has as many copies as there are processes for, each on another."""
    active = Counter(task for each in found.values() for task in each_task(each.active))
    assert active == Counter({(each.id, index): 1 for each in topology for index in range(each.tasks)})
    stateful = {each.id for each in topology if each.stateful}
    for task in active:
        having = [
            of[int(name[1:])]
            for name, each in found.items()
            for kind in (each.active, each.standby)
            if task[1] in kind.get(task[0], ())
        ]
        assert len(having) == len(set(having))
        wanted = 1 + standbys if task[0] in stateful else 1
        assert len(having) == min(wanted, len(set(of)))


@given(subtopologies, processes)
@settings(max_examples=examples(100))
def test_active_tasks_stay_where_they_are(topology: list[Subtasks], of: list[str]) -> None:
    had = at_once(sticky(members(of), topology, 0, first_only=False))
    if len(set(Counter(of).values())) == 1:
        assert at_once(sticky(members(of, had), topology, 0, first_only=False)) == had


def test_state_on_disk_decides_after_a_restart() -> None:
    """The two instances have the tasks' state, but no earlier assignment."""
    topology = [Subtasks("0", 4, stateful=True)]
    one = Candidate("m0", "P", NO_TASKS, {("0", 1): 10, ("0", 2): 10})
    two = Candidate("m1", "Q", NO_TASKS, {("0", 0): 10, ("0", 3): 10})
    found = at_once(sticky([one, two], topology, 0, first_only=False))
    assert found["m0"].active == {"0": {1, 2}}
    assert found["m1"].active == {"0": {0, 3}}


def test_nobody_is_there() -> None:
    with pytest.raises(ApiError):
        at_once(sticky([], [Subtasks("0", 1, stateful=False)], 0, first_only=False))


@given(st.lists(st.integers(0, 5)))
def test_entries_leave_a_queue_in_order(numbers: list[int]) -> None:
    queue: PriorityQueue[int] = PriorityQueue(float)
    for each in numbers:
        queue.add(each)
    assert [queue.poll() for _ in numbers] == sorted(numbers)
