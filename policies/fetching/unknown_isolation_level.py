"""`unknown-isolation-level`: ListOffsets has an isolation level that Kafka does not have (KAFKA-15859).

A client gets UNKNOWN_SERVER_ERROR for its partitions. Up to 3.9 only consumers (replica id -1) do, and
partitions that were named twice still get INVALID_REQUEST; since 4.0 the isolation level is checked first,
whoever asks.
"""

from typing import Final, Literal

from ..behaviour import Switch

unknown_isolation_level: Final = Switch[Literal["fails-consumers", "fails-request"]](
    name="unknown-isolation-level",
    summary="what ListOffsets answers to an isolation level that does not exist",
    answers={"fails-consumers": False, "fails-request": True},
    history=(("0.11", "fails-consumers"), ("4.0", "fails-request")),
    ids=("KAFKA-15859",),
)
