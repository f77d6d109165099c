"""`heartbeat-checks`: a ConsumerGroupHeartbeat of a member that subscribes to nothing, or that has no id.

Up to 3.9 a member that joins has to subscribe to a topic: with an empty list it is answered INVALID_REQUEST.
So is a static member that leaves for a while without its member id. Since 4.0 neither is refused.
"""

from typing import Final, Literal

from ..behaviour import Switch

heartbeat_checks: Final = Switch[Literal["strict", "lenient"]](
    name="heartbeat-checks",
    summary="whether members of a consumer group have to subscribe to a topic when they join",
    answers={"strict": False, "lenient": True},
    history=(("0.11", "strict"), ("4.0", "lenient")),
    ids=("KIP-848",),
)
