"""`reassignment-epoch`: whether a reassignment bumps the leader epoch though the leader stays (KIP-455).

A client sees one more leader epoch, and FENCED_LEADER_EPOCH for the one it knew, with `bumped`, as brokers
with ZooKeeper did; KRaft leaves the epoch as it is.
"""

from typing import Final, Literal

from ..behaviour import Switch

reassignment_epoch: Final = Switch[Literal["bumped", "kept"]](
    name="reassignment-epoch",
    summary="whether a reassignment bumps the leader epoch though the leader stays",
    answers={"bumped": True, "kept": False},
    history=(("0.11", "bumped"), ("3.3", "kept")),
    ids=("KIP-455",),
)
