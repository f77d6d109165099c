"""`leaderless-marker`: a transaction ends while one of its partitions has no leader (KAFKA-20734).

The marker can't be written. With `waits` the coordinator sends it once there is a leader, and until then the
producer gets CONCURRENT_TRANSACTIONS. Since 4.3 the coordinator treats a partition without a leader as one
that was deleted. With `skipped` the transaction is over without that marker: in the partition it stays open,
and consumers that read committed records wait, until the next marker of the producer is written there. That
marker decides on both transactions: records of one that was aborted can be read as committed.
"""

from typing import Final, Literal

from ..behaviour import Switch

leaderless_marker: Final = Switch[Literal["waits", "skipped"]](
    name="leaderless-marker",
    summary="whether a partition without leader gets the marker of a transaction that ends meanwhile",
    answers={"waits": False, "skipped": True},
    history=(("0.11", "waits"), ("4.3", "skipped")),
    ids=("KAFKA-20734",),
    fixed="waits",
)
