"""`streams-heartbeats`: what members of a streams group may say of themselves in StreamsGroupHeartbeat.

Up to 4.3 static members, warm-up tasks and offsets of tasks are not supported: a heartbeat with any of them
gets INVALID_REQUEST (`limited`). Since 4.4 they are (`full`).
"""

from typing import Final, Literal

from ..behaviour import Switch

streams_heartbeats: Final = Switch[Literal["limited", "full"]](
    name="streams-heartbeats",
    summary="whether streams groups have static members, warm-up tasks and offsets of tasks",
    answers={"limited": False, "full": True},
    history=(("0.11", "limited"), ("4.4", "full")),
    ids=("KIP-1071",),
)
