"""`completing-heartbeat`: Heartbeat of a member that has yet to learn its assignment (KAFKA-10134).

Up to 2.5 a client that sends a Heartbeat between JoinGroup and SyncGroup gets REBALANCE_IN_PROGRESS, and the
Heartbeat does not renew its session. Since 2.6 there is no error, and the session is renewed.
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
