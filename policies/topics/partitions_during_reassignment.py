"""`partitions-during-reassignment`: whether a topic gets partitions while replicas move (KIP-455).

A client is refused with REASSIGNMENT_IN_PROGRESS with ZooKeeper. KRaft adds them; they have as many replicas
as the first partition has at that moment.
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
