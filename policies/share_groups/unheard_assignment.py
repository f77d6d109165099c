"""`unheard-assignment`: whether a share member that is an epoch behind is told its partitions.

A member may say the epoch before its present one, since the answer with that may have been lost
(`GroupMetadataManager.throwIfShareGroupMemberEpochIsInvalid`). Brokers up to 4.4 answer with the present
epoch, and with its partitions only if it joins, names its topics, or is given others by this very heartbeat
(`left-out`). A client that has lost an answer names its topics. But if a heartbeat that it has given up is
handled after its next one, it does not know that anything was lost, and never hears of its partitions. With
`told-again` the answer has them whenever the member is behind.
"""

from typing import Final, Literal

from ..behaviour import Switch

unheard_assignment: Final = Switch[Literal["left-out", "told-again"]](
    name="unheard-assignment",
    summary="whether a member of a share group that says its previous epoch is told its partitions",
    answers={"left-out": False, "told-again": True},
    history=(("0.11", "left-out"),),
    ids=("KIP-932",),
    fixed="told-again",
)
