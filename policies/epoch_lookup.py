"""`epoch-lookup`: which cached leader epoch answers for one that wrote nothing (KIP-101).

A client that asks for an epoch between two cached ones sees, with `floor`, the end of the epoch below, as
Kafka answers; with `exact`, as librdkafka's mock, (-1, -1), upon which it resets.
"""

from typing import Final

from .behaviour import Behaviour

BEHAVIOUR: Final = Behaviour[bool](
    name="epoch-lookup",
    summary="whether OffsetForLeaderEpoch knows only epochs that wrote records",
    answers={"floor": False, "exact": True},
    history=(("0.11", "floor"),),
    ids=("KIP-101",),
)
