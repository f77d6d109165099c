"""`altered-share-offsets`: whether AlterShareGroupOffsets changes anything.

In 4.1 a client gets NONE without topics, whatever the group, and the group goes on where it was (`stay`).
Since 4.2 the group begins anew at the offsets that were asked for (`change`).
"""

from typing import Final, Literal

from ..behaviour import Switch

altered_share_offsets: Final = Switch[Literal["stay", "change"]](
    name="altered-share-offsets",
    summary="whether AlterShareGroupOffsets changes the offsets of a share group",
    answers={"stay": False, "change": True},
    history=(("0.11", "stay"), ("4.2", "change")),
    ids=("KIP-932",),
)
