"""`missing-sync`: members that joined and never send SyncGroup (KAFKA-12890).

Since 2.8 such members are dismissed when the rebalance timeout has passed, and the group rebalances. With
`waited-for` the group stays in CompletingRebalance for as long as their sessions last, and the other members
get no answer to SyncGroup. Up to 2.5 these sessions end with the session timeout; on 2.6 and 2.7, where
heartbeats keep them alive, they never do.
"""

from typing import Final, Literal

from ..behaviour import Switch

missing_sync: Final = Switch[Literal["waited-for", "dismissed"]](
    name="missing-sync",
    summary="whether a member that sends no SyncGroup is dismissed after the rebalance timeout",
    answers={"waited-for": False, "dismissed": True},
    history=(("0.11", "waited-for"), ("2.8", "dismissed")),
    ids=("KAFKA-12890",),
)
