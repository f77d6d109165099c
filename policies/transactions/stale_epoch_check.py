"""`stale-epoch-check`: where the epoch of a producer that begins a transaction is checked first
(KAFKA-18042).

A producer with an old epoch gets INVALID_PRODUCER_EPOCH from a leader that knows a newer one; since 4.1 it
gets that before the coordinator is asked. With `coordinator-first` it waits for the coordinator, and gets the
error of that, such as INVALID_PRODUCER_ID_MAPPING for an unknown transactional id.
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
