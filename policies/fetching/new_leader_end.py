"""`new-leader-end`: ListOffsets of the end from a new leader whose high watermark lags (KIP-207).

A new leader learns from its followers how far all of them have come. Until then its high watermark may be
lower than one that clients were told before. Up to 2.1 a client is told that lower one, so that the end seems
to go back; since 2.2 it gets OFFSET_NOT_AVAILABLE (before v5 LEADER_NOT_AVAILABLE) and asks again.
"""

from typing import Final, Literal

from ..behaviour import Switch

new_leader_end: Final = Switch[Literal["told", "not-available"]](
    name="new-leader-end",
    summary="what ListOffsets tells of the end while a new leader's high watermark lags",
    answers={"told": False, "not-available": True},
    history=(("0.11", "told"), ("2.2", "not-available")),
    ids=("KIP-207",),
)
