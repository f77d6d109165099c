"""`fetcher-failure`: what stops when a follower can't take in what it fetched (KIP-461).

With `thread`, as up to 2.2, the broker stops fetching all partitions that have the same leader, until it
restarts: it leaves their ISRs, and producers may get NOT_ENOUGH_REPLICAS, depending on `min.insync.replicas`.
With `partition` it stops fetching only the one that failed, until its next leader epoch.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetcher_failure: Final = Switch[Literal["partition", "thread"]](
    name="fetcher-failure",
    summary="whether a follower that fails stops its whole fetcher thread",
    answers={"partition": False, "thread": True},
    history=(("0.11", "thread"), ("2.3", "partition")),
    ids=("KIP-461",),
)
