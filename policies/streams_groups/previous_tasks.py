"""`previous-tasks`: which tasks the assignor of streams groups takes for those that a member has had.

Up to 4.3 it takes those of the last target assignment, whether the member has got them or not (`target`).
Since 4.4 it takes those that the member has at that time (`assigned`), so that a member that waits for a task
may lose it to another.
"""

from typing import Final, Literal

from ..behaviour import Switch

previous_tasks: Final = Switch[Literal["target", "assigned"]](
    name="previous-tasks",
    summary="whether streams groups assign tasks by the last target assignment or by what members have",
    answers={"target": False, "assigned": True},
    history=(("0.11", "target"), ("4.4", "assigned")),
    ids=("KIP-1071",),
)
