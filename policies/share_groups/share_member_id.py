"""`share-member-id`: which ids members of share groups can't have.

In 4.1 a member may join with any id, but ShareFetch and ShareAcknowledge fail with UNKNOWN_SERVER_ERROR
unless it is a UUID in base 64 (`not-a-uuid`). Since 4.2 a client gets INVALID_REQUEST for an empty id, or
one of more than 36 characters (`too-long`), since 4.3 also without an id or a group (`too-long-or-null`).
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Refused(NamedTuple):
    """Whether an id that is too long is refused, and none at all; otherwise ids that are no UUIDs fail."""

    too_long: bool
    null: bool

    @property
    def needs_uuid(self) -> bool:
        return not self.too_long


share_member_id: Final = Behaviour[Refused](
    name="share-member-id",
    summary="which ids members of share groups can't have",
    answers={
        "not-a-uuid": Refused(too_long=False, null=False),
        "too-long": Refused(too_long=True, null=False),
        "too-long-or-null": Refused(too_long=True, null=True),
    },
    history=(("0.11", "not-a-uuid"), ("4.2", "too-long"), ("4.3", "too-long-or-null")),
    ids=("KIP-932",),
)
