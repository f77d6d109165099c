"""`classic-member-rebalance`: when a member of the classic protocol in a consumer group has to join again.

Up to 4.2 it has to as soon as the group has a new epoch. Since 4.3 it has to once there is a target
assignment for that epoch. Only members of the consumer protocol, and members that join, bring that about: if
all members use the classic protocol, as may be where `group.consumer.migration.policy` is `upgrade`, the
partitions of a member that has left are not assigned to anybody until another one joins.
"""

from typing import Final, Literal

from ..behaviour import Switch

classic_member_rebalance: Final = Switch[Literal["group-epoch", "assignment-epoch"]](
    name="classic-member-rebalance",
    summary="when a member of the classic protocol in a consumer group has to join again",
    answers={"group-epoch": True, "assignment-epoch": False},
    history=(("0.11", "group-epoch"), ("4.3", "assignment-epoch")),
    ids=("KIP-848",),
)
