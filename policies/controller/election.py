"""`election`: who may lead when no replica in sync is left (KAFKA-1211, KIP-106).

With `clean` a client gets LEADER_NOT_AVAILABLE until a replica of the ISR is back, unless the topic's
`unclean.leader.election.enable` says otherwise. With `unclean`, the default before 0.11, a replica with a
shorter log may become the leader.
"""

from typing import Final, Literal

from ..behaviour import Switch

election: Final = Switch[Literal["clean", "unclean"]](
    name="election",
    summary="whether an out-of-sync replica may become the leader when no other is left",
    answers={"clean": False, "unclean": True},
    history=(("0.11", "clean"),),
    ids=("KIP-106",),
)
