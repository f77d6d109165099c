"""`missing-sync`: members that joined and never send SyncGroup (KAFKA-12890).

Since 2.8 they are dismissed when the rebalance timeout is over, and the group rebalances. With `waited-for`
it stays in CompletingRebalance as long as their session lasts: up to 2.5 that ended with the session timeout;
on 2.6 and 2.7, where their heartbeats count meanwhile, never. The other members see no answer to SyncGroup.
"""

from typing import Final, Literal

from ..behaviour import Switch

missing_sync: Final = Switch[Literal["waited-for", "dismissed"]](
    name="missing-sync",
    summary="whether a member without SyncGroup is dismissed after the rebalance timeout",
    answers={"waited-for": False, "dismissed": True},
    history=(("0.11", "waited-for"), ("2.8", "dismissed")),
    ids=("KAFKA-12890",),
)
