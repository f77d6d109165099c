"""`static-joining-again`: a static member of a consumer group that is there joins again with epoch 0 and its
own member id.

A client does so when the answer to its first heartbeat was lost, or after FENCED_MEMBER_EPOCH. With
`unreleased` it gets UNRELEASED_INSTANCE_ID, because the instance id is still owned, by itself. That is
fatal for Java's consumer and for librdkafka's. With `accepted`, as Kafka's pull request 23542 proposes, it
gets its assignment back, as a dynamic member does. A member that is known by another instance id, or by none,
then gets INVALID_REQUEST.
"""

from typing import Final, Literal

from ..behaviour import Switch

static_joining_again: Final = Switch[Literal["unreleased", "accepted"]](
    name="static-joining-again",
    summary="whether a static member of a consumer group may join again with its own member id",
    answers={"unreleased": False, "accepted": True},
    history=(("0.11", "unreleased"),),
    ids=("KIP-848",),
    fixed="accepted",
)
