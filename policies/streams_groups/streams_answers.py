"""`streams-answers`: what members of streams groups are told in the preview of 4.1, and since then.

In 4.1 (`preview`) the first member begins the epoch 1, one that joins again gets FENCED_MEMBER_EPOCH, there
are no statuses (null) where nothing is to be said, all topics that are missing are named, nobody hears why
one could not be created, and StreamsGroupDescribe has no topology meanwhile, or an empty one. Another number
of standby tasks begins no epoch. No record says that all topics are there: another coordinator has the group
as NotReady until something is written after the first heartbeat, and begins an epoch if members have left.
The epoch of endpoints begins with -1 and goes up with all changes of tasks; members hear of endpoints as they
were before their heartbeat. An epoch that is over is not enough to commit offsets, and an empty classic group
does not become a streams group. Since 4.2 (`released`) the first epoch is a later one, members may join
again, statuses are empty, and three topics are named.
"""

from typing import Final, Literal

from ..behaviour import Switch

streams_answers: Final = Switch[Literal["preview", "released"]](
    name="streams-answers",
    summary="whether streams groups are answered as in the preview of 4.1",
    answers={"preview": True, "released": False},
    history=(("0.11", "preview"), ("4.2", "released")),
    ids=("KIP-1071",),
)
