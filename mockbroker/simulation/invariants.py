"""What has to hold when all is quiet again; the others are looked at as things happen, in `World`."""

from typing import TYPE_CHECKING, Final

from ..cluster.follower import FollowerState
from .consumer import State

if TYPE_CHECKING:
    from .world import World

INVARIANTS: Final = {
    "acknowledged-record-lost": "no record that was acknowledged by all replicas in sync is lost, but by an "
    "unclean election or lost power",
    "written-twice": "no record of an idempotent producer is in the log twice",
    "read-again-after-commit": "no group reads again what it has committed, but after a loss",
    "reset-without-loss": "no consumer gives up its position while the log holds all it has read",
    "group-offset-back": "no group gets an older offset than was acknowledged last",
    "spurious-out-of-order": "no producer is told of lost records while nothing is lost",
    "follower-fetcher-dead": "no follower's fetcher dies",
    "replicas-disagree": "replicas in sync hold the same below the high watermark",
    "last-stable-offset-stuck": "the last stable offset reaches the high watermark",
    "consumer-stuck": "a consumer reads on to the end of the log",
}
"""By name, what each says."""


def check_fetchers(world: "World") -> None:
    """Whether a follower's fetcher is dead."""
    for topic in world.cluster.topics.values():
        for partition in topic.partitions:
            for follower in partition.followers.values():
                if follower.state is FollowerState.FAILED:
                    subject = f"{topic.name}-{partition.index} broker {follower.broker}"
                    if not any(v[0] == "follower-fetcher-dead" and v[2] == subject for v in world.violations):
                        world.violated("follower-fetcher-dead", subject, follower.failure)


def check_end(world: "World") -> None:
    """All that has to hold at a history's quiet end."""
    check_fetchers(world)
    _check_records(world)
    for topic in world.cluster.topics.values():
        if topic.internal:
            continue
        for partition in topic.partitions:
            name, log = f"{topic.name}-{partition.index}", partition.log
            if partition.leader < 0:
                continue
            for broker in partition.isr:
                other = partition.logs[broker]
                upto = min(log.high_watermark, other.high_watermark)
                start = max(log.start_offset, other.start_offset)
                if upto > start and log.shared_end(other) < upto:
                    world.violated(
                        "replicas-disagree",
                        name,
                        f"brokers {partition.leader} and {broker} agree up to {log.shared_end(other)}, "
                        f"below the high watermark {upto}",
                    )
            if log.last_stable_offset < log.high_watermark:
                world.violated(
                    "last-stable-offset-stuck",
                    name,
                    f"the last stable offset is {log.last_stable_offset}, the high watermark "
                    f"{log.high_watermark}",
                )
    _check_consumer(world)


def _check_records(world: "World") -> None:
    acknowledged, excused = world.ledger.acknowledged, world.ledger.real_loss
    lost = [number for number in world.lost_records() if acknowledged[number].acks == -1]
    lost = [number for number in lost if acknowledged[number].place not in excused]
    if lost and not world.plan.unclean:
        told = acknowledged[lost[0]]
        world.violated(
            "acknowledged-record-lost",
            f"{told.place[0]}-{told.place[1]}",
            f"records {lost[0]} to {lost[-1]} ({len(lost)}) of {told.writer} are not in the log",
        )
    for topic in world.cluster.topics.values():
        for partition in topic.partitions if not topic.internal else ():
            counts = world.numbers_in(partition)
            twice = [number for number, count in counts.items() if count > 1 and number in world.ledger.once]
            if twice:
                world.violated(
                    "written-twice",
                    f"{topic.name}-{partition.index}",
                    f"{len(twice)} records of an idempotent producer, from {twice[0]} on, are there twice",
                )


def _check_consumer(world: "World") -> None:
    owner = world.owner
    if owner is None or owner.state is State.FAILED or world.partition(owner.place).leader < 0:
        return
    end = world.partition(owner.place).log.high_watermark
    if owner.position is None or owner.position.offset < end:
        offset = owner.position.offset if owner.position else "none"
        world.violated(
            "consumer-stuck",
            f"{owner.group} {owner.place[0]}-{owner.place[1]}",
            f"{owner.name} is at {offset} ({owner.state.value}), the high watermark is {end}",
        )
