"""`unknown-isolation-level`: ListOffsets has an isolation level that Kafka does not have (KAFKA-15859).

A client sees UNKNOWN_SERVER_ERROR for its partitions. Up to 3.9 only consumers (replica id -1) do, and
partitions that were asked for twice get INVALID_REQUEST as ever; since 4.0 the level is looked at first,
whoever asks.
"""

from typing import Final, Literal

from ..behaviour import Switch

unknown_isolation_level: Final = Switch[Literal["fails-consumers", "fails-request"]](
    name="unknown-isolation-level",
    summary="ListOffsets has an isolation level that Kafka does not have",
    answers={"fails-consumers": False, "fails-request": True},
    history=(("0.11", "fails-consumers"), ("4.0", "fails-request")),
    ids=("KAFKA-15859",),
)
