"""`preferred-replica-wait`: when a consumer is told to read from another replica (KAFKA-13767, KIP-392).

The answer that names the preferred replica has no records. Up to 3.1 a client gets it only after
`fetch.max.wait.ms`, since 3.2 at once.
"""

from typing import Final, Literal

from ..behaviour import Switch

preferred_replica_wait: Final = Switch[Literal["waits", "at-once"]](
    name="preferred-replica-wait",
    summary="whether a Fetch that is sent to another replica waits until its wait time has passed",
    answers={"waits": True, "at-once": False},
    history=(("0.11", "waits"), ("3.2", "at-once")),
    ids=("KAFKA-13767",),
)
