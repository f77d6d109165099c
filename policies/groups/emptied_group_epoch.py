"""`emptied-group-epoch`: the assignment epoch of a consumer group whose last member has left.

The group begins an epoch when a member leaves. Up to 4.3 there is no assignment for one without members, so
that ConsumerGroupDescribe says that the assignment is an epoch `behind` the group's. Since 4.4 the empty
group has `its-own`: the assignment epoch is the group's.
"""

from typing import Final, Literal

from ..behaviour import Switch

emptied_group_epoch: Final = Switch[Literal["behind", "its-own"]](
    name="emptied-group-epoch",
    summary="whether a consumer group without members has an assignment for its epoch",
    answers={"behind": False, "its-own": True},
    history=(("0.11", "behind"), ("4.4", "its-own")),
    ids=("KIP-848", "KAFKA-20442"),
)
