"""`completing-heartbeat`: Heartbeat of a member that has yet to learn its assignment (KAFKA-10134).

Up to 2.5 a client that heartbeats between JoinGroup and SyncGroup sees REBALANCE_IN_PROGRESS, and its session
runs out if it does no more than that. Since 2.6 there is no error, and it counts as a sign of life.
"""

from typing import Final, Literal

from ..behaviour import Switch

completing_heartbeat: Final = Switch[Literal["rebalance-in-progress", "accepted"]](
    name="completing-heartbeat",
    summary="whether Heartbeat is refused while the group waits for its leader's assignment",
    answers={"rebalance-in-progress": True, "accepted": False},
    history=(("0.11", "rebalance-in-progress"), ("2.6", "accepted")),
    ids=("KAFKA-10134",),
)
