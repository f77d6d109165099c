"""`epoch-lookup`: which cached leader epoch answers for one that wrote nothing (KIP-101).

A client that asks for an epoch between two cached ones sees, with `floor`, the end of the epoch below, as
Kafka answers; with `exact`, as librdkafka's mock, (-1, -1), upon which it resets.
"""

from typing import Final, Literal

from ..behaviour import Switch

epoch_lookup: Final = Switch[Literal["floor", "exact"]](
    name="epoch-lookup",
    summary="whether OffsetForLeaderEpoch knows only epochs that wrote records",
    answers={"floor": False, "exact": True},
    history=(("0.11", "floor"),),
    ids=("KIP-101",),
)
