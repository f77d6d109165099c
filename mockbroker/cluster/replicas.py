"""What the replicas of a partition hold, for people and tests to look at."""

from typing import Final, NamedTuple

from .partition import Partition

PATIENCE_S: Final = 10.0
"""So long may it take until all replicas have done what they were asked to."""


class Replica(NamedTuple):
    """One replica. `state` is `leader`, or that of a follower (`in step`, `paused`, `failed`, …); `failure`
    says why its fetcher died. `epochs` is its leader-epoch cache: (epoch, start offset), rising."""

    broker: int
    state: str
    in_sync: bool
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    epochs: tuple[tuple[int, int], ...]
    failure: str = ""


def describe(partition: Partition) -> list[Replica]:
    """One line per replica, in the order of the assignment."""
    found = []
    for broker in partition.replicas:
        log, follower = partition.logs[broker], partition.followers.get(broker)
        state = "leader" if broker == partition.leader else "offline"
        found.append(
            Replica(
                broker,
                follower.state.name.lower().replace("_", " ") if follower is not None else state,
                broker in partition.isr,
                log.start_offset,
                log.end_offset,
                log.high_watermark,
                tuple(zip(log.epochs.epochs, log.epochs.starts, strict=True)),
                follower.failure if follower is not None else "",
            )
        )
    return found
