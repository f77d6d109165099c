"""`election`: who may lead when no replica in sync is left (KAFKA-1211, KIP-106).

A client sees LEADER_NOT_AVAILABLE with `clean` until a replica of the ISR is back, unless the topic's
`unclean.leader.election.enable` says otherwise; with `unclean`, the default before 0.11, a shorter log leads.
"""

from typing import Final, Literal

from ..behaviour import Switch

election: Final = Switch[Literal["clean", "unclean"]](
    name="election",
    summary="whether a replica out of sync may lead when no other is left",
    answers={"clean": False, "unclean": True},
    history=(("0.11", "clean"),),
    ids=("KIP-106",),
)
