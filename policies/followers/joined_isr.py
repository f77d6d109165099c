"""`joined-isr`: where in the ISR a follower stands that joins it.

Clients see the order in Metadata. The leader puts it last; since 4.2, out of a hash table, the whole ISR is
in the order of ids (`Partition.prepareIsrExpand`).
"""

from typing import Final, Literal

from ..behaviour import Switch

joined_isr: Final = Switch[Literal["joined-last", "by-id"]](
    name="joined-isr",
    summary="the order of an ISR that a follower has joined",
    answers={"joined-last": False, "by-id": True},
    history=(("0.11", "joined-last"), ("4.2", "by-id")),
)
