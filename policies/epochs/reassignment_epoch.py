"""`reassignment-epoch`: when a reassignment bumps the leader epoch although the leader stays (KIP-455).

A client sees new leader epochs with the same leader, and gets FENCED_LEADER_EPOCH for those that it knew:
with ZooKeeper one when the reassignment begins, one when it ends, and one for each in-sync replica that is
removed; with KRaft one if a replica is removed.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Bumped(NamedTuple):
    """When there is a new epoch."""

    at_each_step: bool
    on_removal: bool


reassignment_epoch: Final = Behaviour[Bumped](
    name="reassignment-epoch",
    summary="when a reassignment bumps the leader epoch although the leader stays",
    answers={
        "bumped": Bumped(at_each_step=True, on_removal=False),
        "bumped-on-removal": Bumped(at_each_step=False, on_removal=True),
        "kept": Bumped(at_each_step=False, on_removal=False),
    },
    history=(("0.11", "bumped"), ("3.3", "bumped-on-removal")),
    ids=("KIP-455",),
)
