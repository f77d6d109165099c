"""`assignor-change`: what follows when a member of a consumer group asks for another server-side assignor.

Up to 4.3 nothing does before something else begins an epoch (`next-epoch`). Since 4.4 (`every-heartbeat`) an
epoch begins if the assignor that most members ask for has changed. But where two assignors have as many
members, the coordinator prefers the one that the member asks for, and compares it with the group's, for which
another rule holds: each heartbeat of the members that ask for the other one begins an epoch, for as long as
there are as many. Seen with 4.4.0 and two members, without any fault. With `at-change` an epoch begins once.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class AssignorChange(NamedTuple):
    """`begins` is whether an epoch begins; `own_first` is whether the member's own assignor is preferred
    among those that have as many members."""

    begins: bool
    own_first: bool = False


assignor_change: Final = Behaviour[AssignorChange](
    name="assignor-change",
    summary="what follows when a member of a consumer group asks for another assignor",
    answers={
        "next-epoch": AssignorChange(begins=False),
        "every-heartbeat": AssignorChange(begins=True, own_first=True),
        "at-change": AssignorChange(begins=True),
    },
    history=(("0.11", "next-epoch"), ("4.4", "every-heartbeat")),
    fixed="at-change",
    ids=("KIP-848",),
)
