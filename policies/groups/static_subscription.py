"""`static-subscription`: a static member of a classic group comes back, and subscribes to other topics.

As long as its session lasts, it takes the place that it had (KIP-345). With `kept` the group does not
rebalance, so that nobody is assigned what the member subscribes to now, and what it no longer subscribes to
stays assigned to it. With `rebalance`, as Kafka's pull request 22593 proposes, a generation begins if the
topics differ.
"""

from typing import Final, Literal

from ..behaviour import Switch

static_subscription: Final = Switch[Literal["kept", "rebalance"]](
    name="static-subscription",
    summary="whether a group rebalances when a static member comes back and subscribes to other topics",
    answers={"kept": False, "rebalance": True},
    history=(("0.11", "kept"),),
    ids=("KIP-345", "KAFKA-12759"),
    fixed="rebalance",
)
