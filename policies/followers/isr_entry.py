"""`isr-entry`: how far a follower must have come to enter the in-sync replicas (KAFKA-7128).

With `leader-epoch` it has to have fetched up to the high watermark and up to the start of the leader's epoch.
With `high-watermark`, as up to 2.0.0, only up to the high watermark, which a new leader may not know yet: a
follower that lacks acknowledged records enters the ISR, and they are lost when it becomes the leader.
"""

from typing import Final, Literal

from ..behaviour import Switch

isr_entry: Final = Switch[Literal["leader-epoch", "high-watermark"]](
    name="isr-entry",
    summary="whether a follower may enter the ISR below the start of the leader epoch",
    answers={"leader-epoch": False, "high-watermark": True},
    history=(("0.11", "high-watermark"), ("2.0", "leader-epoch")),
    ids=("KAFKA-7128",),
    fixed="leader-epoch",
)
