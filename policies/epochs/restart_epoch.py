"""`restart-epoch`: whether the only broker of a cluster bumps leader epochs when it restarts (KIP-966).

A client sees what it led before in the same leader epoch, or two later, and FENCED_LEADER_EPOCH for the one
it knew. With ZooKeeper the epoch is kept, since the controller was away as well. With KRaft a broker resigns
when it shuts down, and is elected when it is back; since 4.0 one that was killed leaves the ISR too.
Where another broker is left, a controller sees the broker go and come in any release: two epochs.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Bumped(NamedTuple):
    """After which ends of the broker the epoch rises."""

    after_stop: bool
    after_kill: bool


restart_epoch: Final = Behaviour[Bumped](
    name="restart-epoch",
    summary="whether the restart of a cluster's only broker bumps the leader epoch",
    answers={
        "kept": Bumped(after_stop=False, after_kill=False),
        "bumped-after-stop": Bumped(after_stop=True, after_kill=False),
        "bumped": Bumped(after_stop=True, after_kill=True),
    },
    history=(("0.11", "kept"), ("3.3", "bumped-after-stop"), ("4.0", "bumped")),
    ids=("KIP-966",),
)
