"""`full-consumer-group`: a static member comes back to a consumer group that has as many members as it may.

It takes the place of the member that has its instance id, so that there are no more members than before. Up
to 4.3 (`refused`) it gets GROUP_MAX_SIZE_REACHED all the same, since its member id is new
(`group.consumer.max.size`): it is out until the session of the one before has ended. Since 4.4 (`let-in`)
whoever has an instance id of the group is let in, or told what else is wrong.
"""

from typing import Final, Literal

from ..behaviour import Switch

full_consumer_group: Final = Switch[Literal["refused", "let-in"]](
    name="full-consumer-group",
    summary="whether a static member may come back to a consumer group that is full",
    answers={"refused": False, "let-in": True},
    history=(("0.11", "refused"), ("4.4", "let-in")),
    ids=("KIP-848", "KAFKA-20601"),
)
