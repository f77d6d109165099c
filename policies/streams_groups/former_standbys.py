"""`former-standbys`: which members that had a standby task the assignor of streams groups looks at.

Up to 4.3 the first of them decides whether any gets the task again: if its process has the task by now, no
other is looked at, so that a copy moves, or is missing (`first`). Since 4.4 all are looked at (`all`).
"""

from typing import Final, Literal

from ..behaviour import Switch

former_standbys: Final = Switch[Literal["first", "all"]](
    name="former-standbys",
    summary="whether all members that had a standby task are looked at when it is assigned again",
    answers={"first": False, "all": True},
    history=(("0.11", "first"), ("4.4", "all")),
    ids=("KAFKA-20899",),
)
