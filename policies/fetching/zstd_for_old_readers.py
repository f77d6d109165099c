"""`zstd-for-old-readers`: a Fetch from before version 10, whose reader may not know zstd, of a topic with
`compression.type=zstd` (KIP-110).

Up to 3.9 such a partition is answered UNSUPPORTED_COMPRESSION_TYPE, even if it is empty. Since 4.0 it is read
like any other. Batches that are compressed so in other topics were always sent.
"""

from typing import Final, Literal

from ..behaviour import Switch

zstd_for_old_readers: Final = Switch[Literal["refused", "sent"]](
    name="zstd-for-old-readers",
    summary="whether requests from before Fetch version 10 may read topics with `compression.type=zstd`",
    answers={"refused": False, "sent": True},
    history=(("0.11", "refused"), ("4.0", "sent")),
    ids=("KIP-110",),
)
