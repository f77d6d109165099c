"""`old-member-epoch`: OffsetCommit of a member of a consumer group with an epoch that is over.

Up to 4.2 it is refused with STALE_MEMBER_EPOCH: a member that commits while a heartbeat is under way may fail
although it still has its partitions. Since 4.3 it is accepted for partitions that the member has had since
that epoch, or longer.
"""

from typing import Final, Literal

from ..behaviour import Switch

old_member_epoch: Final = Switch[Literal["refused", "by-partition"]](
    name="old-member-epoch",
    summary="whether a member of a consumer group may commit with an epoch that is over",
    answers={"refused": False, "by-partition": True},
    history=(("0.11", "refused"), ("4.3", "by-partition")),
    ids=("KIP-848",),
)
