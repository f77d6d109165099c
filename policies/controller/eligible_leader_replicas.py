"""`eligible-leader-replicas`: whether replicas that left an ISR may still lead (KIP-966).

With `tracked`, the default of clusters that were created with 4.1 or later, DescribeTopicPartitions lists the
replicas that left an ISR below `min.insync.replicas`. The ISR may then become empty, and any of these
replicas may lead once it is back, unless its broker was killed. With `none` the last in-sync replica stays in
the ISR, and no other may lead.
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
