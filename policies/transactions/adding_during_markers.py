"""`adding-during-markers`: partitions are added to a transaction while markers are written (KAFKA-18660).

The producer itself gets CONCURRENT_TRANSACTIONS and tries again. A producer with another id or epoch gets
INVALID_PRODUCER_ID_MAPPING or PRODUCER_FENCED up to 3.9, which are fatal; since 4.0 it gets
CONCURRENT_TRANSACTIONS as well, because its id may be the next one of this transactional id.
"""

from typing import Final, Literal

from ..behaviour import Switch

adding_during_markers: Final = Switch[Literal["producer-first", "markers-first"]](
    name="adding-during-markers",
    summary="whether a producer is checked while the markers of its transactional id are written",
    answers={"producer-first": False, "markers-first": True},
    history=(("0.11", "producer-first"), ("4.0", "markers-first")),
    ids=("KAFKA-18660", "KIP-890"),
)
