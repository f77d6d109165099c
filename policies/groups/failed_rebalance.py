"""`failed-rebalance`: the coordinator failed to start a generation, and another request could start it.

This happens when a consumer's subscription can't be read (see `unreadable-subscription`); the members that
wait get no answer. Up to 3.9 the coordinator does not check again whether all members have joined: the group
is stuck. Since 4.0 the next JoinGroup, or a member that leaves, starts the rebalance again (KIP-848), unless
the one that failed was the group's first.
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
