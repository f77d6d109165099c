"""`epoch-lookup`: which cached leader epoch answers for one that wrote nothing (KIP-101).

A client that asks for an epoch between two cached ones gets with `floor`, as from Kafka, the end of the epoch
below; with `exact`, as from librdkafka's mock, it gets (-1, -1), and resets its position.
"""

from typing import Final, Literal

from ..behaviour import Switch

epoch_lookup: Final = Switch[Literal["floor", "exact"]](
    name="epoch-lookup",
    summary="whether OffsetForLeaderEpoch knows only epochs in which records were written",
    answers={"floor": False, "exact": True},
    history=(("0.11", "floor"),),
    ids=("KIP-101",),
)
