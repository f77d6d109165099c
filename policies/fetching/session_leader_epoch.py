"""`session-leader-epoch`: whether a fetch session keeps the leader epoch a client knows (KAFKA-9338,
KIP-320).

A consumer that fetches incrementally gets FENCED_LEADER_EPOCH or UNKNOWN_LEADER_EPOCH if the leader epoch
that it sends (Fetch v9+) is not the leader's. With `forgotten`, as up to 2.4, only the first request of a
session is checked: when the same broker is elected again, an incremental Fetch goes on as if nothing had
happened.
"""

from typing import Final, Literal

from ..behaviour import Switch

session_leader_epoch: Final = Switch[Literal["forgotten", "kept"]](
    name="session-leader-epoch",
    summary="whether incremental Fetch requests check the leader epoch",
    answers={"forgotten": False, "kept": True},
    history=(("0.11", "forgotten"), ("2.5", "kept")),
    ids=("KAFKA-9338",),
)
