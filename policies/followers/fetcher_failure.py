"""`fetcher-failure`: what stops when a follower can't take in what it fetched (KIP-461).

With `thread`, as up to 2.2, all partitions that the broker follows from the same leader, until the broker
restarts: they leave their ISRs, and with `min.insync.replicas` producers see NOT_ENOUGH_REPLICAS. With
`partition` just the one, until its next leader epoch.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetcher_failure: Final = Switch[Literal["partition", "thread"]](
    name="fetcher-failure",
    summary="whether a follower that fails takes its fetcher thread with it",
    answers={"partition": False, "thread": True},
    history=(("0.11", "thread"), ("2.3", "partition")),
    ids=("KIP-461",),
)
