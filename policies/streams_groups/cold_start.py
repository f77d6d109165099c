"""`cold-start`: where tasks of a streams group go whose members have all been restarted.

Members have new ids then, and no earlier assignment. Up to 4.3 tasks are dealt out anew, whatever is on the
disks of the instances (`shuffled`). Since 4.4 a task goes to a member that says how far it is with the state
of that task (`by-offsets`).
"""

from typing import Final, Literal

from ..behaviour import Switch

cold_start: Final = Switch[Literal["shuffled", "by-offsets"]](
    name="cold-start",
    summary="whether streams groups assign tasks by the state that members say they have",
    answers={"shuffled": False, "by-offsets": True},
    history=(("0.11", "shuffled"), ("4.4", "by-offsets")),
    ids=("KAFKA-20719",),
)
