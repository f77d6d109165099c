"""`repeated-markers`: one marker of WriteTxnMarkers names a partition twice, which exists on this broker.

One marker is written, and up to 3.6 the partition is in the answer once. Since 3.7 the broker waits for as
many results as partitions were named, and never answers.
"""

from typing import Final, Literal

from ..behaviour import Switch

repeated_markers: Final = Switch[Literal["once", "never"]](
    name="repeated-markers",
    summary="whether WriteTxnMarkers is never answered if a marker names a partition twice",
    answers={"once": False, "never": True},
    history=(("0.11", "once"), ("3.7", "never")),
    ids=("KIP-848",),
)
