"""`loaded-offsets`: how long committed offsets last once another broker has loaded them (KAFKA-8069).

A client sees them expire as if nothing had happened. With `expire-at-once`, all that has no time of its own
is gone at the first look after the coordinator moved, and a consumer that starts then resets its position.
Brokers of 2.1 did so where `inter.broker.protocol.version` was still below 2.1, in the midst of an upgrade:
only by choice.
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
