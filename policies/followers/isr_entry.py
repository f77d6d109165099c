"""`isr-entry`: how far a follower must have come to enter the in-sync replicas (KAFKA-7128).

With `leader-epoch` to the high watermark and to where the leader's epoch begins. With `high-watermark`, as up
to 2.0.0, to the high watermark alone, which a new leader may not know yet: a follower enters that lacks
acknowledged records, and they are lost when it leads.
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
