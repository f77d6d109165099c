"""`later-state-epoch`: what a share coordinator makes of WriteShareGroupState with a later state epoch.

4.1 takes the epoch over, so that whoever writes with the earlier one gets FENCED_STATE_EPOCH
(`taken-over`). Since 4.2 the state keeps the epoch with which it was initialized (`ignored`).
"""

from typing import Final, Literal

from ..behaviour import Switch

later_state_epoch: Final = Switch[Literal["taken-over", "ignored"]](
    name="later-state-epoch",
    summary="whether a write with a later state epoch raises the epoch of a share partition",
    answers={"taken-over": True, "ignored": False},
    history=(("0.11", "taken-over"), ("4.2", "ignored")),
    ids=("KIP-932",),
)
