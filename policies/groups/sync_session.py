"""`sync-session`: a member of a stable group asks for its assignment with SyncGroup.

Up to 3.9 this renews its session as a Heartbeat does; since 4.0 it does not.
"""

from typing import Final, Literal

from ..behaviour import Switch

sync_session: Final = Switch[Literal["renewed", "unchanged"]](
    name="sync-session",
    summary="whether SyncGroup to a stable group renews the member's session",
    answers={"renewed": True, "unchanged": False},
    history=(("0.11", "renewed"), ("4.0", "unchanged")),
    ids=("KIP-848",),
)
