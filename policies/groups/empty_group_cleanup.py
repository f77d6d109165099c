"""`empty-group-cleanup`: an empty group loses its last offset to OffsetDelete or the deletion of a topic.

Up to 3.9 a client finds the group Dead at once, and so every other empty group without offsets of that
coordinator when a topic is deleted; since 4.0 it is Empty until the next check for expired offsets
(`offsets.retention.check.interval.ms`).
"""

from typing import Final, Literal

from ..behaviour import Switch

empty_group_cleanup: Final = Switch[Literal["at-once", "at-check"]](
    name="empty-group-cleanup",
    summary="whether an empty group goes at once with its last offset, or at the next check",
    answers={"at-once": True, "at-check": False},
    history=(("0.11", "at-once"), ("4.0", "at-check")),
    ids=("KIP-848",),
)
