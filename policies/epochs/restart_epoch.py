"""`restart-epoch`: whether the only broker of a cluster bumps leader epochs when it restarts (KIP-966).

With ZooKeeper the epoch is kept, since the controller was down as well. With KRaft a broker resigns when it
shuts down and is elected when it is back: a client sees the broker's partitions two leader epochs later, and
gets FENCED_LEADER_EPOCH for the epoch that it knew. Since 4.0 a broker that was killed leaves the ISR too,
with the same effect. If there are other brokers, a controller sees the broker go and come back in any
release, which takes two epochs.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Bumped(NamedTuple):
    """After which kind of end the epoch is bumped."""

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
