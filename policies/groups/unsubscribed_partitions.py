"""`unsubscribed-partitions`: when a member of a consumer group loses the partitions of topics that it left.

Up to 4.1 it keeps them until there is another assignment. Since 4.2 it has to give them up at once, which
matters where assignments wait for `group.consumer.assignment.interval.ms`.
"""

from typing import Final, Literal

from ..behaviour import Switch

unsubscribed_partitions: Final = Switch[Literal["next-assignment", "at-once"]](
    name="unsubscribed-partitions",
    summary="when a member of a consumer group loses the partitions of topics that it left",
    answers={"next-assignment": False, "at-once": True},
    history=(("0.11", "next-assignment"), ("4.2", "at-once")),
    ids=("KIP-848",),
)
