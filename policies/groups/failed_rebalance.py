"""`failed-rebalance`: a coordinator failed as it began a generation, and a request could begin it again.

That happens where the subscription of a consumer can't be read (see `unreadable-subscription`); those who
wait get no answer. Up to 3.9 nobody looks again whether all have joined: the group is stuck. Since 4.0 the
next JoinGroup, or a member that leaves, tries again (KIP-848), unless the failed rebalance was the first of
the group.
"""

from typing import Final, Literal

from ..behaviour import Switch

failed_rebalance: Final = Switch[Literal["stuck", "tried-again"]](
    name="failed-rebalance",
    summary="whether a rebalance in which the coordinator failed is tried again",
    answers={"stuck": False, "tried-again": True},
    history=(("0.11", "stuck"), ("4.0", "tried-again")),
    ids=("KIP-848",),
)
