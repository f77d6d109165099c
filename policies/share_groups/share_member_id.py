"""`share-member-id`: whether ids of members of share groups are checked before anything else.

Up to 4.1 a member may be called anything but nothing. Since 4.2 a client gets INVALID_REQUEST for an id of
more than 36 characters, and for none without a message.
"""

from typing import Final, Literal

from ..behaviour import Switch

share_member_id: Final = Switch[Literal["any", "checked-first"]](
    name="share-member-id",
    summary="whether ids of members of share groups are checked before anything else",
    answers={"any": False, "checked-first": True},
    history=(("0.11", "any"), ("4.2", "checked-first")),
    ids=("KIP-932",),
)
