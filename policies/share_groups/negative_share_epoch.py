"""`negative-share-epoch`: whether share coordinators take requests with an epoch below 0.

Up to 4.3 an epoch of -1 in InitializeShareGroupState, ReadShareGroupState or WriteShareGroupState is
compared with none, and is kept as any other (`accepted`). Since 4.4 the request gets INVALID_REQUEST, before
anything but the partition is looked at (`refused`).
"""

from typing import Final, Literal

from ..behaviour import Switch

negative_share_epoch: Final = Switch[Literal["accepted", "refused"]](
    name="negative-share-epoch",
    summary="whether share coordinators take state epochs and leader epochs below 0",
    answers={"accepted": False, "refused": True},
    history=(("0.11", "accepted"), ("4.4", "refused")),
    ids=("KIP-932",),
)
