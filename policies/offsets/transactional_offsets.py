"""`transactional-offsets`: when OffsetFetch sees the offsets of a transaction that was committed.

With `with-marker` it sees them as soon as the marker is in `__consumer_offsets`. With `later`, a coordinator
takes note of the marker after it has acknowledged it: the transaction is complete, the producer begins the
next one, and for 100 ms a consumer that does not ask for stable offsets is given the old ones
(KAFKA-15784, KAFKA-17507).
"""

from typing import Final, Literal

from ..behaviour import Switch

transactional_offsets: Final = Switch[Literal["with-marker", "later"]](
    name="transactional-offsets",
    summary="when OffsetFetch sees the offsets of a committed transaction",
    answers={"with-marker": False, "later": True},
    history=(("0.11", "with-marker"),),
    ids=("KAFKA-15784", "KAFKA-17507"),
)
