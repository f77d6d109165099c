"""`high-watermark-below-min-isr`: whether records count as committed while too few replicas have them.

While the ISR is smaller than `min.insync.replicas`, Produce with acks=-1 is refused, but with acks=1 it is
accepted. Up to 3.6 consumers read such records at once, and they are lost if the last replica is; a Produce
that is waiting when the ISR shrinks gets NOT_ENOUGH_REPLICAS_AFTER_APPEND. Since 3.7 the high watermark stays
where it is: consumers wait, and so does the Produce, until enough replicas are back or its timeout has passed
(REQUEST_TIMED_OUT).
"""

from typing import Final, Literal

from ..behaviour import Switch

high_watermark_below_min_isr: Final = Switch[Literal["advances", "stays"]](
    name="high-watermark-below-min-isr",
    summary="whether the high watermark advances while too few replicas are in sync",
    answers={"advances": False, "stays": True},
    history=(("0.11", "advances"), ("3.7", "stays")),
    ids=("KAFKA-15583", "KIP-966"),
)
