"""`loaded-offsets`: how long committed offsets last once another broker has loaded them (KAFKA-8069).

With `as-committed` a move of the coordinator does not change when they expire. With `expire-at-once`, all
offsets without an expiration time of their own are gone at the first check after the coordinator has moved,
and a consumer that starts then resets its position. Brokers of 2.1 did this while
`inter.broker.protocol.version` was still below 2.1, that is in the middle of an upgrade; so no release has
this answer.
"""

from typing import Final, Literal

from ..behaviour import Switch

loaded_offsets: Final = Switch[Literal["as-committed", "expire-at-once"]](
    name="loaded-offsets",
    summary="whether committed offsets expire as soon as another coordinator has loaded them",
    answers={"as-committed": False, "expire-at-once": True},
    history=(("0.11", "as-committed"),),
    ids=("KAFKA-8069",),
)
