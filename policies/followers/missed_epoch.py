"""`missed-epoch`: a follower that was cut off finds the leader it knew, in a later epoch (KAFKA-7164).

With `truncates` it truncates its log as for any new leader. With `goes-on`, as up to 2.0.0, it continues to
fetch although another replica has led in between: the replicas differ. Since followers truncate by diverging
epoch (2.7), both answers have the same effect.
"""

from typing import Final, Literal

from ..behaviour import Switch

missed_epoch: Final = Switch[Literal["truncates", "goes-on"]](
    name="missed-epoch",
    summary="whether a follower truncates its log when the same leader is back in a later epoch",
    answers={"truncates": False, "goes-on": True},
    history=(("0.11", "goes-on"), ("2.0", "truncates")),
    ids=("KAFKA-7164",),
    fixed="truncates",
)
