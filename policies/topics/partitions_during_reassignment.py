"""`partitions-during-reassignment`: whether a topic gets partitions while replicas move (KIP-455).

With ZooKeeper a client gets REASSIGNMENT_IN_PROGRESS. With KRaft the partitions are added; they have as many
replicas as the first partition has at that moment.
"""

from typing import Final, Literal

from ..behaviour import Switch

partitions_during_reassignment: Final = Switch[Literal["refused", "added"]](
    name="partitions-during-reassignment",
    summary="whether a topic gets partitions while a reassignment is under way",
    answers={"refused": True, "added": False},
    history=(("0.11", "refused"), ("3.3", "added")),
    ids=("KIP-455",),
)
