"""`role-changes`: how a member of a streams group gets a task in another role, say as an active task where it
was a standby.

Up to 4.3 it gives the task up first, and gets it again with a later heartbeat (`given-up-first`). Since 4.4
the task stays: a copy becomes active, or an active task a copy, in one step (`in-place`).
"""

from typing import Final, Literal

from ..behaviour import Switch

role_changes: Final = Switch[Literal["given-up-first", "in-place"]](
    name="role-changes",
    summary="whether a task of a streams group that changes its role on a member is given up first",
    answers={"given-up-first": False, "in-place": True},
    history=(("0.11", "given-up-first"), ("4.4", "in-place")),
    ids=("KIP-1071",),
)
