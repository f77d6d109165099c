"""`stale-epoch-check`: who looks first at the epoch of a producer that begins a transaction (KAFKA-18042).

A producer with an old epoch gets INVALID_PRODUCER_EPOCH from a leader that knows a newer one, since 4.1
before the coordinator is asked. With `coordinator-first` it gets what is wrong there, as
INVALID_PRODUCER_ID_MAPPING for a transactional id that is unknown, and waits for that answer.
"""

from typing import Final, Literal

from ..behaviour import Switch

stale_epoch_check: Final = Switch[Literal["coordinator-first", "leader-first"]](
    name="stale-epoch-check",
    summary="whether a leader refuses an old producer epoch before it asks the coordinator",
    answers={"coordinator-first": False, "leader-first": True},
    history=(("0.11", "coordinator-first"), ("4.1", "leader-first")),
    ids=("KAFKA-18042", "KIP-890"),
)
