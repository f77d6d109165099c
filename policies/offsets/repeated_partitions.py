"""`repeated-partitions`: OffsetCommit, TxnOffsetCommit, OffsetDelete or OffsetFetch names a partition twice.

Up to 3.9 the partition is in the answer once, and a topic without partitions is not; since 4.0 the answer
repeats everything that was asked for.
"""

from typing import Final, Literal

from ..behaviour import Switch

repeated_partitions: Final = Switch[Literal["once", "each"]](
    name="repeated-partitions",
    summary="whether a partition that is named twice in requests about offsets is answered once",
    answers={"once": True, "each": False},
    history=(("0.11", "once"), ("4.0", "each")),
    ids=("KIP-848",),
)
