"""`oldest-offset-requests`: OffsetCommit and OffsetFetch of version 0, which store offsets in ZooKeeper.

Up to 3.2 they are stored, apart from those that groups commit in other versions. Since 3.3, without
ZooKeeper, both requests get UNSUPPORTED_VERSION.
"""

from typing import Final, Literal

from ..behaviour import Switch

oldest_offset_requests: Final = Switch[Literal["stored", "unsupported"]](
    name="oldest-offset-requests",
    summary="whether offsets are stored that OffsetCommit version 0 commits",
    answers={"stored": True, "unsupported": False},
    history=(("0.11", "stored"), ("3.3", "unsupported")),
    ids=("KIP-500",),
)
