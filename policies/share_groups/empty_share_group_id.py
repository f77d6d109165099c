"""`empty-share-group-id`: AlterShareGroupOffsets and DeleteShareGroupOffsets without a group.

In 4.1 a client gets NONE, and no topics (`ignored`). Since 4.2 it gets INVALID_GROUP_ID (`refused`).
"""

from typing import Final, Literal

from ..behaviour import Switch

empty_share_group_id: Final = Switch[Literal["ignored", "refused"]](
    name="empty-share-group-id",
    summary="whether offsets of a share group without an id are refused",
    answers={"ignored": False, "refused": True},
    history=(("0.11", "ignored"), ("4.2", "refused")),
    ids=("KIP-932",),
)
