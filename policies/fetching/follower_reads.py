"""`follower-reads`: whether followers serve consumers (KIP-392).

A consumer that asks a follower with Fetch v11 gets NOT_LEADER_OR_FOLLOWER up to 2.3, and since 2.4 records up
to the follower's own high watermark, which may be behind the leader's.
"""

from typing import Final, Literal

from ..behaviour import Switch

follower_reads: Final = Switch[Literal["refused", "served"]](
    name="follower-reads",
    summary="whether a follower serves a Fetch of a consumer",
    answers={"refused": False, "served": True},
    history=(("0.11", "refused"), ("2.4", "served")),
    ids=("KIP-392",),
)
