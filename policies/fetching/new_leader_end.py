"""`new-leader-end`: ListOffsets of the end from a new leader whose high watermark lags (KIP-207).

A new leader has to learn from its followers how far they have fetched. Until then its high watermark may be
lower than one that clients were told before. Up to 2.1 a client is told the lower one, so the end seems to go
back; since 2.2 it gets OFFSET_NOT_AVAILABLE (LEADER_NOT_AVAILABLE before v5) and asks again.
"""

from typing import Final, Literal

from ..behaviour import Switch

new_leader_end: Final = Switch[Literal["told", "not-available"]](
    name="new-leader-end",
    summary="what ListOffsets answers for the log end while a new leader's high watermark lags",
    answers={"told": False, "not-available": True},
    history=(("0.11", "told"), ("2.2", "not-available")),
    ids=("KIP-207",),
)
