"""`pending-member-leave`: a member that never joined with its new id leaves a stable group (KIP-394).

Up to 3.9 the others do not notice; since 4.0 they see a rebalance, as after any member that left.
"""

from typing import Final, Literal

from ..behaviour import Switch

pending_member_leave: Final = Switch[Literal["nothing", "rebalance"]](
    name="pending-member-leave",
    summary="whether a group rebalances when a member that never joined leaves",
    answers={"nothing": False, "rebalance": True},
    history=(("0.11", "nothing"), ("4.0", "rebalance")),
    ids=("KIP-394", "KIP-848"),
)
