"""`repeated-partitions`: OffsetCommit or OffsetFetch names a partition twice.

Up to 3.9 a client finds the partition once in the answer, and a topic without partitions not at all; since
4.0 the answer has everything that was asked for, as often as it was.
"""

from typing import Final, Literal

from ..behaviour import Switch

repeated_partitions: Final = Switch[Literal["once", "each"]](
    name="repeated-partitions",
    summary="whether OffsetCommit and OffsetFetch answer only once for a partition that is named twice",
    answers={"once": True, "each": False},
    history=(("0.11", "once"), ("4.0", "each")),
    ids=("KIP-848",),
)
