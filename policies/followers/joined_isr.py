"""`joined-isr`: the place in the ISR of a follower that joins it.

Clients see the order in Metadata. Up to 4.1 the leader puts the follower last. Since 4.2 the ISR comes out of
a hash table, in the order of ids (`Partition.prepareIsrExpand`).
"""

from typing import Final, Literal

from ..behaviour import Switch

joined_isr: Final = Switch[Literal["joined-last", "by-id"]](
    name="joined-isr",
    summary="the order of an ISR that a follower has joined",
    answers={"joined-last": False, "by-id": True},
    history=(("0.11", "joined-last"), ("4.2", "by-id")),
)
