"""`eligible-leader-replicas`: whether replicas that left an ISR may still lead (KIP-966).

A client that asks DescribeTopicPartitions sees with `tracked`, the default of clusters that began with 4.1
or later, which replicas left an ISR below `min.insync.replicas`. The ISR may become empty then, and any of
these leads once it is back, unless its broker was killed. With `none` the last replica in sync stays in the
ISR, and nobody else leads.
"""

from typing import Final, Literal

from ..behaviour import Switch

eligible_leader_replicas: Final = Switch[Literal["none", "tracked"]](
    name="eligible-leader-replicas",
    summary="whether replicas that left an ISR below min.insync.replicas may still lead",
    answers={"none": False, "tracked": True},
    history=(("0.11", "none"), ("4.1", "tracked")),
    ids=("KIP-966",),
)
