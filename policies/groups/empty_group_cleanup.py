"""`empty-group-cleanup`: an empty group loses its last offset to OffsetDelete or the deletion of a topic.

Up to 3.9 a client finds the group Dead at once, and when a topic is deleted, also every other empty group of
that coordinator that has no offsets. Since 4.0 the group is Empty until the next check for expired offsets
(`offsets.retention.check.interval.ms`).
"""

from typing import Final, Literal

from ..behaviour import Switch

empty_group_cleanup: Final = Switch[Literal["at-once", "at-check"]](
    name="empty-group-cleanup",
    summary="whether an empty group is removed with its last offset, or at the next check",
    answers={"at-once": True, "at-check": False},
    history=(("0.11", "at-once"), ("4.0", "at-check")),
    ids=("KIP-848",),
)
