"""`negative-share-epoch`: what share coordinators make of an epoch below 0.

Up to 4.3 a state epoch or leader epoch of -1 in InitializeShareGroupState and WriteShareGroupState is
compared with none; it is neither too early nor kept as the leader's. So it is with ReadShareGroupState, but
up to 4.2 that gets FENCED_LEADER_EPOCH (`fenced-readers`, then `accepted`). Since 4.4 these requests get
INVALID_REQUEST, before anything but the partition is looked at (`refused`).
"""

from typing import Final, Literal

from ..behaviour import Behaviour

negative_share_epoch: Final = Behaviour[Literal["fenced-readers", "accepted", "refused"]](
    name="negative-share-epoch",
    summary="whether share coordinators take state epochs and leader epochs of -1",
    answers={"fenced-readers": "fenced-readers", "accepted": "accepted", "refused": "refused"},
    history=(("0.11", "fenced-readers"), ("4.3", "accepted"), ("4.4", "refused")),
    ids=("KIP-932",),
)
