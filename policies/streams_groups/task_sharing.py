"""`task-sharing`: how streams groups share out the tasks that are left once members have kept what they had.

In 4.1 a task goes where it comes together with tasks that it is with nowhere else, and then to the process
with the fewest tasks for its number of members; tasks are taken in the order of a hash table (`by-pairs`).
Since 4.2 only the numbers of tasks count, also where copies are placed, and each subtopology is dealt out in
the order of its partitions (`by-load`).
"""

from typing import Final, Literal

from ..behaviour import Switch

task_sharing: Final = Switch[Literal["by-pairs", "by-load"]](
    name="task-sharing",
    summary="by what streams groups share out tasks that nobody had",
    answers={"by-pairs": True, "by-load": False},
    history=(("0.11", "by-pairs"), ("4.2", "by-load")),
    ids=("KIP-1071",),
)
