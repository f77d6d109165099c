"""`isr-shrink-epoch`: whether a follower that leaves the ISR makes a new leader epoch (KAFKA-15021).

If it is, a client sees a new leader epoch with the same leader, and gets FENCED_LEADER_EPOCH for the one that
it knew. With ZooKeeper this happens when the follower's broker goes down, with KRaft up to 3.5 also when the
follower lags, and since 3.6 never.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Bumped(NamedTuple):
    """Which followers bump the epoch by leaving the ISR."""

    offline: bool
    lagging: bool


isr_shrink_epoch: Final = Behaviour[Bumped](
    name="isr-shrink-epoch",
    summary="whether the leader epoch is bumped when a follower leaves the ISR",
    answers={
        "bumped-when-offline": Bumped(offline=True, lagging=False),
        "bumped": Bumped(offline=True, lagging=True),
        "kept": Bumped(offline=False, lagging=False),
    },
    history=(("0.11", "bumped-when-offline"), ("3.3", "bumped"), ("3.6", "kept")),
    ids=("KAFKA-15021",),
)
