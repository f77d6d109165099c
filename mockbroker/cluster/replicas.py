"""What the replicas of a partition hold, for people and tests."""

from typing import Final, NamedTuple

from .topic import TopicPartition

PATIENCE_S: Final = 10.0
"""How long it may take until all replicas have done what they were asked to."""


class Replica(NamedTuple):
    """One replica. `state` is `leader`, or the state of a follower (`in step`, `paused`, `failed`, …);
    `failure` is why its fetcher died. `epochs` is its leader-epoch cache: (epoch, start offset), in order."""

    broker: int
    state: str
    in_sync: bool
    log_start_offset: int
    log_end_offset: int
    high_watermark: int
    epochs: tuple[tuple[int, int], ...]
    failure: str = ""


def describe(partition: TopicPartition) -> list[Replica]:
    """All replicas, in the order of the assignment."""
    return [_described(partition, broker) for broker in partition.replicas]


def _described(partition: TopicPartition, broker: int) -> Replica:
    replica, in_sync = partition.at(broker), broker in partition.isr
    state = "leader" if broker == partition.leader else partition.state_of(broker).name
    state_name = state.lower().replace("_", " ")
    if replica is None:
        return Replica(broker, state_name, in_sync, 0, 0, 0, ())
    log = replica.log
    return Replica(
        broker,
        state_name,
        in_sync,
        log.start_offset,
        log.end_offset,
        log.high_watermark,
        tuple(zip(log.epochs.epochs, log.epochs.starts, strict=True)),
        replica.fetcher.failure if replica.fetcher is not None else "",
    )
